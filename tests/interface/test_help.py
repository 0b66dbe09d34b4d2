"""Help texts: types as words, and examples that are right."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from command_line import Rookery
from rookery.interface.cli.app import app
from rookery.interface.cli.help import EXAMPLES

GROUP = typer.main.get_command(app)


def commands(group: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    yield name, group
    for part, command in getattr(group, "commands", {}).items():
        yield from commands(command, f"{name} {part}".strip())


ALL = dict(commands(GROUP))


@pytest.mark.parametrize("name", ALL)
def test_help_shows_words_and_examples(
    rookery: Rookery, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for columns in ("80", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        answer = rookery(*name.split(), "--help")
        assert answer.code == 0 and "Examples:" in answer.out
        assert not re.search(r"<\w+>|\b(TEXT|INTEGER|FLOAT|BOOLEAN)\b", answer.out)
        assert max(map(len, answer.out.splitlines())) <= int(columns)
        assert not re.search(r"<=x|[{}]|\[\[|\.\.\.\.", answer.out), "words, not notation"
        for example in EXAMPLES[name]:
            assert example in answer.out, "on one line, to be copied"


@pytest.mark.parametrize("example", [each for some in EXAMPLES.values() for each in some])
def test_examples_have_arguments_that_exist(example: str) -> None:
    program, *words = shlex.split(example)
    assert program == "rookery"
    command, name = GROUP, ""
    while words and words[0] in getattr(command, "commands", {}):
        name = f"{name} {words.pop(0)}".strip()
        command = ALL[name]
    if "--help" not in words and not hasattr(command, "commands"):
        assert command.make_context(name, words)
