"""Shared fixtures: one tiny run, and a caller of the command line in this process."""

import io
import os
import shutil
from pathlib import Path

import pytest

import rookery as rookery_package
from command_line import Answer, Mistake, Rookery
from random_runs import random_run
from rookery.interface.cli.app import run

TINY = [
    "run.iterations=2",
    "run.moves=9",
    "run.checkpoint_every=1",
    "run.strength_every=2",
    "run.strength_simulations=2",
    "run.inference=float32",
    "net.width=8",
    "net.depth=1",
    "selfplay.games=16",
    "selfplay.simulations=4",
    "replay.window_min=100",
    "learning.batch_size=32",
    "learning.precision=float32",
]


def with_settings(settings: list[str]) -> list[str]:
    """The options that set `settings`."""
    return [word for setting in settings for word in ("--set", setting)]


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """The variables under which another process finds this Rookery."""
    source = str(Path(rookery_package.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="session")
def tiny() -> list[str]:
    """The options that shrink a run to a second or two."""
    return with_settings(TINY)


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory, tiny: list[str]) -> Path:
    """A finished run of Tic-Tac-Toe; only to be read."""
    path = tmp_path_factory.mktemp("runs") / "tiny"
    assert run(["train", "tictactoe", "--run", str(path), *tiny]) == 0
    return path


@pytest.fixture(scope="session")
def chess_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of chess with a small net of random weights; only to be read."""
    return random_run(tmp_path_factory.mktemp("runs") / "chess", "chess")


@pytest.fixture
def own_run(finished_run: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed or damaged."""
    return Path(shutil.copytree(finished_run, tmp_path / "own"))


@pytest.fixture
def rookery(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Rookery:
    """Calls a command with what a person types."""
    monkeypatch.setenv("COLUMNS", "100")

    def call(*arguments: object, typed: str = "") -> Answer:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return call


@pytest.fixture
def mistake(rookery: Rookery) -> Mistake:
    """Calls a command that must fail with one line and exit code 2; returns the line."""

    def call(*arguments: object, typed: str = "") -> str:
        answer = rookery(*arguments, typed=typed)
        lines = answer.err.splitlines()
        assert answer.code == 2 and len(lines) == 1, answer
        assert lines[0].startswith("rookery: ") and "Traceback" not in answer.out
        return lines[0]

    return call
