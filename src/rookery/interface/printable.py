"""Text that a terminal shows as it is: names and messages may come from anybody's files."""

MAX_LINE = 480
"""Characters of an error message; more are cut out of its middle."""


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
