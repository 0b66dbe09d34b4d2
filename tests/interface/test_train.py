"""`rookery train` and `rookery resume`: from the first word to the summary."""

import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from command_line import Mistake, Rookery
from own_rules import marked_rules
from rookery.api import free_folder
from rookery.games import CheckResult
from rookery.interface.run_history import RunHistory, read_history
from rookery.interface.training import summarise
from rookery.training import RunFolder, Stats, recipe_for

DEADLINE_SECONDS = 240


def config_of(run: Path) -> dict[str, Any]:
    """The config in a run folder."""
    found: dict[str, Any] = json.loads((run / "config.json").read_text())
    return found


def kinds(run: Path) -> list[str]:
    """Return the kinds of all lines."""
    return [line["kind"] for line in Stats(run).lines()]


def test_training_ends_with_a_summary_and_the_next_commands(
    rookery: Rookery, tiny: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = rookery("train", "tictactoe", *tiny)
    assert answer.code == 0 and answer.err == ""
    lines = answer.out.splitlines()
    assert lines[0] == "Training tictactoe in runs/tictactoe-1, recipe tictactoe-demo, on cpu"
    assert any("100%" in line and "loss" in line and "errors" in line for line in lines)
    assert "Finished: tictactoe in runs/tictactoe-1" in lines
    assert any("2 iterations" in line and "288 positions" in line for line in lines)
    assert any("moves that lose game value, at 2 simulations" in line for line in lines)
    for command in ("play", "eval", "match", "resume"):
        assert f"rookery {command} runs/tictactoe-1" in answer.out
    assert "\x1b" not in answer.out


def test_rules_that_fail_the_check_are_noted_and_trained(
    rookery: Rookery, tiny: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = CheckResult("planes", False, "planes are equal\nX\n\nO")
    monkeypatch.setattr("rookery.training.factory.quick_check", lambda game: [failure])
    answer = rookery("train", "tictactoe", "--run", tmp_path / "run", *tiny)
    lines = answer.out.splitlines()
    assert answer.code == 0 and "Finished" in answer.out
    assert "note: the rules of tictactoe fail the check of planes: planes are equal" in lines
    assert any("tictactoe.py shows the whole check" in line for line in lines)


@pytest.mark.parametrize(
    ("updates", "seconds", "minutes"),
    [(0, 1, 10), (41, 50, 17), (150, 60, 7), (199, 60, 6), (200, 60, None), (5000, 60, None)],
)
def test_few_updates_say_what_to_expect(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    updates: int,
    seconds: float,
    minutes: int | None,
) -> None:
    past = RunHistory()
    past.kind, past.updates, past.seconds, past.iteration = "finished", updates, seconds, 1
    monkeypatch.setattr("rookery.interface.training.read_history", lambda path: past)
    folder = RunFolder.create(tmp_path / "run", recipe_for("tictactoe"))
    console = Console(file=io.StringIO(), width=200)
    summarise(folder, console)
    out = console.file.getvalue()  # type: ignore[attr-defined]
    told = f"{updates} updates were made; expect little, try --minutes {minutes}\n"
    assert (told in out) == (minutes is not None) == ("expect little" in out), out


def test_the_default_folder_is_the_next_free_number(tmp_path: Path) -> None:
    for taken in ("chess-1", "chess-2"):
        (tmp_path / taken).mkdir()
    assert free_folder(tmp_path, "chess") == tmp_path / "chess-3"


def test_minutes_replace_the_length_of_the_recipe(
    rookery: Rookery, tiny: list[str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    answer = rookery("train", "tictactoe", "--run", run, *tiny[2:], "--minutes", "0.001")
    assert answer.code == 0
    settings = config_of(run)["run"]
    assert settings["minutes"] == 0.001 and settings["iterations"] == 0


@pytest.mark.parametrize(("minutes", "kept"), [([], 2.0), (["--minutes", "9"], 9.0)])
def test_iterations_replace_the_time_limit_unless_it_is_given_too(
    rookery: Rookery, tiny: list[str], tmp_path: Path, minutes: list[str], kept: float
) -> None:
    run, limits = tmp_path / "run", ["--set", "run.strength_every=0"]
    limits += [] if minutes else ["--set", "run.minutes=2"]
    answer = rookery(
        "train", "tictactoe", "--run", run, *tiny[2:], *limits, *minutes, "--iterations", 1
    )
    assert answer.code == 0 and "1 iteration," in answer.out
    assert (config_of(run)["run"]["iterations"], config_of(run)["run"]["minutes"]) == (1, kept)
    assert rookery("resume", run, "--iterations", 2).code == 0, "in total, not in addition"
    assert kinds(run).count("iteration") == 2
    assert config_of(run)["run"]["minutes"] == 0


def test_a_rules_file_is_trained_by_its_absolute_path(
    rookery: Rookery, tiny: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marked_rules(tmp_path)
    monkeypatch.chdir(tmp_path)
    settings = [*tiny, "--set", "run.strength_every=0", "--set", "run.iterations=1"]
    answer = rookery("train", "mine.py", *settings)
    assert answer.code == 0 and "Finished: mine in runs/mine-1" in answer.out
    assert config_of(tmp_path / "runs/mine-1")["game"] == str(tmp_path / "mine.py")


def test_a_finished_run_says_so(rookery: Rookery, own_run: Path) -> None:
    before = kinds(own_run)
    answer = rookery("resume", own_run)
    assert answer.code == 0
    assert "has finished" in answer.out and f"rookery resume {own_run} --minutes" in answer.out
    assert kinds(own_run) == before


def test_a_finished_run_goes_on_when_asked_for_more(rookery: Rookery, own_run: Path) -> None:
    answer = rookery("resume", own_run, "--set", "run.iterations=3")
    assert answer.code == 0 and "Finished" in answer.out
    assert config_of(own_run)["run"]["iterations"] == 3
    history = read_history(own_run)
    assert history.iteration == 3 and history.is_finished
    assert history.positions == 3 * 9 * 16


def start(run: Path, tiny: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    """A run without an end in a process of its own, past its first iteration."""
    endless = [*tiny, "--set", "run.iterations=0", "--set", "run.checkpoint_every=100000"]
    command = [sys.executable, "-m", "rookery", "train", "tictactoe", "--run", str(run), *endless]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    end = time.monotonic() + DEADLINE_SECONDS
    while process.poll() is None and "iteration" not in kinds(run):
        assert time.monotonic() < end, "no iteration in time"
        time.sleep(0.1)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_cleanly(
    rookery: Rookery,
    mistake: Mistake,
    tiny: list[str],
    environment: dict[str, str],
    finished_run: Path,
    tmp_path: Path,
    number: signal.Signals,
) -> None:
    run = tmp_path / "run"
    process = start(run, tiny, environment)
    assert "is being trained by another process" in mistake("resume", run)
    begin = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - begin < 30
    assert process.returncode == 0 and err == ""
    assert "Stopped" in out and f"rookery resume {run}" in out
    reached = read_history(run).iteration
    assert rookery("match", run, "random", "--games", 2).code == 0, "its net can be played"
    assert rookery("resume", run, "--set", f"run.iterations={reached + 1}").code == 0
    assert kinds(run).count("iteration") == reached + 1
