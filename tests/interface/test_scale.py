"""`rookery scale`: other workers for a run that another process trains."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from command_line import Mistake, Rookery
from rookery.training import RunFolder, Stats, read_config
from rookery.training.store.requests import find_requests

DEADLINE_SECONDS = 240


def test_a_run_that_is_not_training_is_left_alone(mistake: Mistake, own_run: Path) -> None:
    line = mistake("scale", own_run, "--actors", 2, "--trainers", 3)
    expected = "is not training; to continue it with these settings: "
    assert expected in line
    assert line.endswith(f"resume {own_run} --set run.actors=2 --set learning.workers=3")
    assert not find_requests(own_run)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ([], "there is nothing to change; give --actors, --trainers or --devices"),
        (["--actors", "some"], "run.actors is 'some', expected"),
        (["--actors", "-1"], "run.actors is '-1', expected"),
        (["--trainers", "0"], "learning.workers is '0', expected"),
        (["--actors", "2", "--timeout", "0"], "--timeout"),
    ],
)
def test_wrong_options(mistake: Mistake, own_run: Path, options: list[str], why: str) -> None:
    assert why in mistake("scale", own_run, *options)


def test_a_folder_without_a_run(mistake: Mistake, tmp_path: Path) -> None:
    assert "is not a run folder" in mistake("scale", tmp_path / "none", "--actors", 2)


def test_a_run_that_does_not_answer(
    mistake: Mistake, own_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rookery.interface.cli.scale.POLL_SECONDS", 0.01)
    with RunFolder(own_run).lock():
        line = mistake("scale", own_run, "--actors", 2, "--timeout", 1)
    assert line.endswith("did not answer within 1 s; the request was withdrawn, try again")
    assert not find_requests(own_run)


def lines(path: Path, kind: str) -> list[dict[str, Any]]:
    return [line for line in Stats(path).lines() if line["kind"] == kind]


def test_actors_join_and_leave_while_a_run_trains(
    rookery: Rookery,
    mistake: Mistake,
    tiny: list[str],
    environment: dict[str, str],
    tmp_path: Path,
) -> None:
    path = tmp_path / "run"
    endless = ["run.iterations=0", "run.minutes=60", "run.strength_every=0", "run.actors=1"]
    words = [word for setting in endless for word in ("--set", setting)]
    process = subprocess.Popen(
        [sys.executable, "-m", "rookery", "train", "tictactoe", "--run", str(path), *tiny, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )

    def wait_for_actors(number: int) -> None:
        end = time.monotonic() + DEADLINE_SECONDS
        while True:
            done = lines(path, "iteration") if (path / "stats.jsonl").exists() else []
            if done and len(done[-1]["actors"]["workers"]) == number:
                return
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.1)

    try:
        wait_for_actors(1)
        answer = rookery("scale", path, "--actors", 2)
        assert answer.code == 0 and f"Scaled {path}: 2 actors" in answer.out, answer
        wait_for_actors(2)
        assert "has no trainers" in mistake("scale", path, "--trainers", 2)
        assert "which cannot change while" in mistake("scale", path, "--actors", 0)
        assert rookery("scale", path, "--actors", 1).code == 0
        wait_for_actors(1)
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and err == "" and "note: scaled from 1 actor on cpu" in out
    assert [line["refused"] == "" for line in lines(path, "scaled")] == [True, False, False, True]
    assert read_config(path).run.actors == "1"
    notes = [line["note"] for line in lines(path, "note")]
    assert "actor 1 joins: the run was scaled; added" in notes
    assert any(note.endswith("leaves: the run was scaled; retired") for note in notes)
    assert "not scaled: " in rookery("watch", path, "--once").out
