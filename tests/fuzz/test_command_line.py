"""Commands with hostile words: an answer, or one line and exit code 2; never a traceback."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzing import cases, hostile, limits, numbers
from random_runs import random_run
from rookery.interface.cli.app import run

arguable = hostile.filter(lambda word: "\x00" not in word)
"""What a shell can pass to a command."""
OPTIONS = {
    "eval": ("--simulations", "--iteration", "--devices", "--workers", "--seed"),
    "match": ("--games", "--opening-plies", "--seed", "--workers", "--devices"),
    "analyse": ("--simulations", "--devices"),
    "play": ("--simulations", "--first", "--position"),
    "watch": ("--every",),
    "export": ("--iteration",),
    "rate": ("--games", "--rungs"),
    "train": ("--minutes", "--set", "--actors", "--seed", "--recipe", "--init"),
    "resume": ("--minutes", "--set"),
    "tune": ("--trials", "--minutes", "--space"),
}
WARM_UP = (
    ("eval", "--simulations", "1"),
    ("match", "random", "--games", "2", "--workers", "0"),
    ("analyse", "12", "--simulations", "2"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fuzz")
    run_folder = str(random_run(path / "run", "tictactoe"))
    for words in WARM_UP:  # compiles, without the limit of a case
        assert run([words[0], run_folder, *words[1:]]) == 0
    return path


@cases(0.05)
@given(st.data())
def test_a_command_ends_with_an_answer_or_one_line(folder: Path, data: st.DataObject) -> None:
    command = data.draw(st.sampled_from(sorted(OPTIONS)))
    refused = command in ("train", "resume", "tune")  # what is accepted would train for long
    arguments = data.draw(st.lists(arguable, max_size=2)) or [str(folder / "run")]
    for option in data.draw(st.lists(st.sampled_from(OPTIONS[command]), min_size=1, max_size=2)):
        arguments += [option, data.draw(numbers | arguable)]
    if refused:
        arguments += ["--set", "net.width=-1"]
    with pytest.MonkeyPatch.context() as patch:
        out, err = io.StringIO(), io.StringIO()
        patch.chdir(folder)
        patch.setattr("sys.stdin", io.StringIO("quit\n"))
        patch.setattr("sys.stdout", out)
        patch.setattr("sys.stderr", err)
        with limits():
            code = run([command, *arguments])
    assert code in (0, 1, 2), (command, arguments)
    assert "Traceback" not in out.getvalue() + err.getvalue(), (command, arguments)
    if code == 2 and command != "analyse":
        lines = err.getvalue().splitlines()
        assert len(lines) == 1 and lines[0].startswith("rookery: "), (arguments, lines)
        assert lines[0].isprintable() and len(lines[0]) < 4000, (arguments, lines)
    assert not refused or {path.name for path in folder.iterdir()} == {"run"}
