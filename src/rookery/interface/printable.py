"""Text that a terminal shows as it is: names and messages may come from anybody's files."""

import io
import os
import sys

MAX_LINE = 480
"""Characters of an error message; more are cut out of its middle."""

PLAIN = ("C", "POSIX")
"""Locales without characters beyond ASCII."""


def printable(text: str) -> str:
    """Return `text` with control characters and bytes that are not UTF-8 written as escapes."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in "\n\t" else _escape(each) for each in text)


def one_line(text: str) -> str:
    """Join the lines of `text`, make them printable, and cut what is too long."""
    line = printable(" | ".join(line.rstrip() for line in text.splitlines() if line.strip()))
    if len(line) <= MAX_LINE:
        return line
    return f"{line[: MAX_LINE // 2]} ... {line[5 - MAX_LINE // 2 :]}"


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def fit_streams() -> None:
    """Prepare stdout and stderr for what they can show.

    A terminal of a plain locale (LANG=C) gets ASCII, whatever Python makes of it. Characters that
    a stream cannot encode are written as escapes.
    """
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if is_plain_locale() and stream.isatty():
            stream.reconfigure(encoding="ascii", errors="backslashreplace")
        elif stream.encoding.lower() not in ("utf-8", "utf8"):
            stream.reconfigure(errors="backslashreplace")


def is_plain_locale() -> bool:
    """Return whether the user has asked for the locale C.

    Python itself may have set LC_CTYPE to C.UTF-8 in its place.
    """
    if locale := os.environ.get("LC_ALL"):
        return locale in PLAIN
    characters = os.environ.get("LC_CTYPE") or "C"
    return os.environ.get("LANG") in PLAIN and characters in (*PLAIN, "C.UTF-8")
