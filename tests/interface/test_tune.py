"""`rookery tune`: trials on the screen, the best ones in a table, and a study that continues."""

import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from command_line import Mistake, Rookery
from rookery.arena import MatchTest
from rookery.interface import tuning
from rookery.interface.stopping import Stopping
from rookery.training import Progress, RunFolder
from thread_workers import ThreadWorker

SPACE = ("--space", "learning.learning_rate=1e-4..1e-2:log", "--space", "search.considered=2..9")


@pytest.fixture(autouse=True)
def quick_strength(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strength is measured in a few games."""
    monkeypatch.setattr(
        "rookery.training.measuring.strength_test_for", lambda game: MatchTest(game, games=2)
    )


@pytest.fixture
def order(tiny: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A study of tiny runs in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return ["tune", "tictactoe", *SPACE, *tiny]


def test_trials_end_in_a_table_and_a_command_that_repeats_the_best(
    rookery: Rookery, order: list[str]
) -> None:
    answer = rookery(*order, "--trials", 2)
    assert answer.code == 0 and not answer.err
    assert "Trial 1 of 2: runs/tictactoe-study/trial-0000" in answer.out
    assert "Finished: 2 of 2 trials in runs/tictactoe-study" in answer.out
    assert re.search(r"^learning\.learning_rate +\S+ +\S+$", answer.out, re.MULTILINE)
    command = re.search(r"rookery (train .*)", answer.out)
    assert command is not None
    best = re.findall(r"^ +(trial-\d+)", answer.out, re.MULTILINE)[0]
    assert rookery(*shlex.split(command[1]), "--run", "again").code == 0
    found = [RunFolder(path) for path in (Path("again"), Path("runs/tictactoe-study") / best)]
    assert found[0].config == found[1].config
    assert found[0].load_weights().fingerprint == found[1].load_weights().fingerprint


def test_the_same_command_continues_up_to_its_trials(rookery: Rookery, order: list[str]) -> None:
    assert "1 of 1 trials" in rookery(*order, "--trials", 1).out
    again = rookery(*order, "--trials", 2)
    assert again.code == 0 and "Trial 2 of 2" in again.out and "Trial 1 of 2" not in again.out
    done = rookery(*order, "--trials", 2)
    assert done.code == 0 and "Trial" not in done.out and "Finished: 2 of 2" in done.out


def test_a_signal_interrupts_a_trial_and_the_next_call_continues_it(
    rookery: Rookery, order: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def interrupted(folder: RunFolder, console: Any) -> Iterator[Any]:
        def show(progress: Progress) -> None:
            if progress.iteration == 1:
                os.kill(os.getpid(), signal.SIGINT)

        yield show

    with monkeypatch.context() as patch:
        patch.setattr(tuning, "progress_for", interrupted)
        answer = rookery(*order, "--trials", 1)
    assert answer.code == 0 and "interrupted" in answer.out
    assert (
        "Stopped: 0 of 1 trials" in answer.out
        and "Repeat the command to continue the study." in answer.out
    )
    again = rookery(*order, "--trials", 1)
    assert "Trial 1 of 1: runs/tictactoe-study/trial-0000" in again.out
    assert "Finished: 1 of 1 trials" in again.out


def test_a_signal_ends_all_trials_of_all_workers(
    rookery: Rookery, order: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rookery.training.tuning.pool.ProcessWorker", ThreadWorker)
    check, checks = Stopping.check, []

    def interrupted(stopping: Stopping) -> None:
        checks.append(stopping)
        if len(checks) == 3:  # the trials have begun
            os.kill(os.getpid(), signal.SIGINT)
        check(stopping)

    with monkeypatch.context() as patch:
        patch.setattr(Stopping, "check", interrupted)
        answer = rookery(*order, "--trials", 2, "--workers", 2)
    assert answer.code == 0 and "Stopped: 0 of 2 trials" in answer.out
    again = rookery(*order, "--trials", 2, "--workers", 2)
    assert again.code == 0 and "Finished: 2 of 2 trials" in again.out
    assert "Trial in runs/tictactoe-study/trial-0000" in again.out
    assert re.search(r"  trial-000\d: finished, errors .*; 2 of 2 trials", again.out)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--space", "lerning.reuse=1..2"], "did you mean learning.reuse?"),
        (["--set", "search.considered=4"], "search.considered is both searched and set"),
        (["--set", "run.strength_every=0"], "trials are compared by strength"),
        (["--set", "run.iterations=0"], "a trial has no end; give it one, as in --minutes 5"),
        (["--trials", "0"], "--trials"),
        (["--workers", "-1"], "--workers"),
        (["--workers", "2", "--actors", "2"], "runs every trial in one process"),
        (["--recipe", "tictactoe-dmo"], "did you mean tictactoe-demo?"),
    ],
)
def test_a_study_that_cannot_be_starts_nothing(
    mistake: Mistake, order: list[str], tmp_path: Path, options: list[str], found: str
) -> None:
    assert found in mistake(*order, *options)
    assert not list(tmp_path.iterdir())


def test_without_optuna_one_line_says_what_to_install(
    mistake: Mistake, order: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert "tuning needs Optuna (pip install 'rookery[tune]')" in mistake(*order)
    assert not Path("runs").exists()
