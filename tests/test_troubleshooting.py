"""docs/troubleshooting.md quotes what Rookery prints: every text block consists of its messages.

A message is found again in the string literals of the source, where an f-string stands for any
values. A message may be put together from several literals, as those about workers are.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from rookery.training import setting_names

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/troubleshooting.md").read_text(encoding="ascii")
MIN_LETTERS = 4
"""Literals with fewer letters are found in any text."""
VALUE = r"(?:[\d.]+ %|\S+)"
"""A value at either end of a literal: a percentage or one word."""
FRAME = re.compile(r"^(note|rookery): |\b(actor|trainer) \d+|[\s;,]+")
"""What surrounds the literals of a message: its kind, the worker that it is about."""
QUOTED_ERROR = "Connection reset by peer"
"""An error of torch, as an example."""


@cache
def templates() -> tuple[re.Pattern[str], ...]:
    """Return a pattern for every string of the source that is not a docstring."""
    found = set()
    for path in (ROOT / "src/rookery").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if id(node) not in docstrings and isinstance(node, ast.Constant | ast.JoinedStr):
                found.add(pattern(node))
    return tuple(re.compile(text) for text in found if text)


def pattern(node: ast.Constant | ast.JoinedStr) -> str:
    """Return a regular expression for what a literal can become; empty if it says too little."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = [part.value if isinstance(part, ast.Constant) else None for part in parts]
    words = [text for text in texts if isinstance(text, str)]
    if len(re.findall("[A-Za-z]", "".join(words))) < MIN_LETTERS:
        return ""
    ends = (0, len(texts) - 1)
    return "".join(
        re.escape(text) if isinstance(text, str) else VALUE if at in ends else ".+?"
        for at, text in enumerate(texts)
    )


def unknown_part(message: str) -> str:
    """Return the words of a message that are in no literal of the source."""
    is_known = [False] * len(message)
    for known in (*templates(), FRAME, re.compile(QUOTED_ERROR)):
        for match in known.finditer(message):
            is_known[match.start() : match.end()] = [True] * len(match[0])
    return "".join(char for char, known in zip(message, is_known, strict=True) if not known)


def messages() -> list[str]:
    """Return the messages of all text blocks; an indented line continues the one before."""
    blocks = re.findall(r"^```text\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in re.sub(r"\n +", " ", block).splitlines()]


@pytest.mark.parametrize("message", messages())
def test_every_message_is_one_that_rookery_prints(message: str) -> None:
    assert unknown_part(message) == ""


@pytest.mark.parametrize(
    "message",
    [
        "rookery: the moon cannot be reached; wait for a clear night",
        "note: on the CPU: the driver sleeps",
        "note: trainer 1 was silent for 11 s; restarting tomorrow",
    ],
)
def test_other_messages_are_noticed(message: str) -> None:
    assert unknown_part(message) != ""


def test_every_setting_on_the_page_exists() -> None:
    sections = {name.partition(".")[0] for name in setting_names()}
    named = re.findall(rf"\b((?:{'|'.join(sections)})\.[a-z_]+)\b", PAGE)
    files = {"learning.md"}
    assert len(set(named)) > 15 and set(named) - files <= set(setting_names())
