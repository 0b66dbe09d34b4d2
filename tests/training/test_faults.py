"""Processes that are killed, stopped or compete for a run: it ends as if undisturbed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from rookery.training import Stats
from rookery.training.store.checkpoint import Checkpoint

DEADLINE_SECONDS = 240
"""Time for a process to start and compile; it takes seconds once everything is cached."""
ITERATIONS = 24
"""Long enough to interrupt a process before its run is over."""

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, start: Start, options: list[str]) -> Path:
    """The same run without interruption, in its own process."""
    run = tmp_path_factory.mktemp("runs") / "a"
    finish(start("train", "tictactoe", "--run", run, *options))
    return run


def finish(process: subprocess.Popen[str]) -> None:
    """Wait until a process ends without an error."""
    _, err = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 0, err


@pytest.fixture(scope="module")
def start(environment: dict[str, str]) -> Any:
    """Return a function that starts `rookery` in a process and kills it in the end."""
    processes: list[subprocess.Popen[str]] = []

    def call(*arguments: object, **more: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "rookery", *map(str, arguments)]
        more |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen(command, env=environment, **more)
        processes.append(process)
        return process

    yield call
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def options(tiny: list[str]) -> list[str]:
    """Options that shorten a run."""
    return [
        word for setting in [*tiny, f"run.iterations={ITERATIONS}"] for word in ("--set", setting)
    ]


def reached(run: Path) -> int:
    """Return the iteration of the checkpoint, 0 before the first one."""
    found = Checkpoint.load(run)
    return found.position.iteration if found else 0


def wait_for_checkpoint(run: Path, process: subprocess.Popen[str], *, after: int = 0) -> None:
    """Wait until the run has a checkpoint of a later iteration than `after`."""
    end = time.monotonic() + DEADLINE_SECONDS
    while reached(run) <= after:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "no checkpoint in time"
        time.sleep(0.005)


def check_equal(run: Path, undisturbed: Path, trace: Callable[[Path], Any]) -> None:
    """Check that the run left behind what the undisturbed one did, bit for bit."""
    expected, found = trace(undisturbed), trace(run)
    for field in fields(expected):
        assert getattr(found, field.name) == getattr(expected, field.name), field.name


def test_a_run_killed_again_and_again_ends_as_if_undisturbed(
    start: Start, options: list[str], undisturbed: Path, trace: Any, tmp_path: Path
) -> None:
    run, arguments = tmp_path / "run", ["train", "tictactoe", "--run", tmp_path / "run", *options]
    before = 0
    for delay_seconds in (0.13, 0.02):
        process = start(*arguments)
        wait_for_checkpoint(run, process, after=before)
        time.sleep(delay_seconds)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        before, arguments = reached(run), ["resume", run]
    assert 0 < before < ITERATIONS
    finish(start("resume", run))
    assert [line["kind"] for line in Stats(run).lines()].count("resumed") == 2
    check_equal(run, undisturbed, trace)


def end(process: subprocess.Popen[str], number: signal.Signals) -> str:
    """End a process by a signal, check that it takes seconds, and return what it printed."""
    begin = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - begin < 30
    assert process.returncode == 0 and err == ""
    return out


@pytest.mark.slow
def test_ctrl_c_ends_a_run_that_can_be_resumed(
    start: Start, options: list[str], undisturbed: Path, trace: Any, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    process = start("train", "tictactoe", "--run", run, *options)
    wait_for_checkpoint(run, process)
    out = end(process, signal.SIGINT)
    assert "Stopped" in out and f"rookery resume {run}" in out
    assert 0 < reached(run) < ITERATIONS
    finish(start("resume", run))
    check_equal(run, undisturbed, trace)


def test_a_sigterm_to_all_processes_of_a_run_is_a_clean_stop(
    start: Start, options: list[str], tmp_path: Path
) -> None:
    run, together = tmp_path / "run", ["run.actors=2", "learning.method=distributed"]
    words = [word for setting in [*together, "learning.workers=2"] for word in ("--set", setting)]
    process = start("train", "tictactoe", "--run", run, *options, *words, start_new_session=True)
    wait_for_checkpoint(run, process)
    os.killpg(process.pid, signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and "Stopped" in out
    assert "Traceback" not in err
    assert 0 < reached(run) < ITERATIONS


def test_a_second_process_is_refused_and_sigterm_ends_the_first(
    start: Start, options: list[str], undisturbed: Path, trace: Any, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    first = start("train", "tictactoe", "--run", run, *options)
    wait_for_checkpoint(run, first)
    first.send_signal(signal.SIGSTOP)  # it keeps the lock while the second one starts
    second = start("resume", run, "--set", "run.iterations=9")
    _, err = second.communicate(timeout=DEADLINE_SECONDS)
    assert second.returncode == 2
    assert "is being trained by another process" in err and err.count("\n") == 1
    first.send_signal(signal.SIGCONT)
    assert "Stopped" in end(first, signal.SIGTERM)
    assert 0 < reached(run) < ITERATIONS
    finish(start("resume", run))
    check_equal(run, undisturbed, trace)
