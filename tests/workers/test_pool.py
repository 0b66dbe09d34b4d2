"""Crews of real processes, and what happens to them: killed, stopped, throwing, cut off."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import worker_functions
from rookery.workers import (
    Message,
    ProcessWorker,
    RestartPolicy,
    WorkerEvent,
    WorkerPool,
    WorkersLost,
)

QUICK = RestartPolicy(silence_seconds=2.5, start_seconds=30.0, restarts=2, first_pause=0.1)
PATIENCE = 30.0


class Observed:
    """A crew and what was told about it."""

    def __init__(self, role: Callable[..., None], size: int, limits: RestartPolicy = QUICK) -> None:
        self.events: list[WorkerEvent] = []
        self.messages: list[tuple[int, Message]] = []
        self.workers: dict[int, ProcessWorker] = {}

        def start(name: str, number: int, incarnation: int) -> ProcessWorker:
            job = {"incarnation": incarnation}
            self.workers[number] = ProcessWorker(name, role, job)
            return self.workers[number]

        self.crew = WorkerPool("actor", size, start, limits=limits, tell=self.events.append)

    def poll_until(self, done: Callable[[], bool]) -> float:
        """Poll until `done`; the seconds that took."""
        begun = time.monotonic()
        while not done():
            assert time.monotonic() - begun < PATIENCE, self.events
            self.messages += self.crew.poll()
            time.sleep(0.01)
        return time.monotonic() - begun

    def heard_from(self, pid: int) -> int:
        return sum(message.header.get("pid") == pid for _, message in self.messages)


@pytest.fixture
def observed() -> Iterator[Callable[..., Observed]]:
    crews: list[Observed] = []

    def make(*arguments: Any, **options: Any) -> Observed:
        crews.append(Observed(*arguments, **options))
        return crews[-1]

    yield make
    pids = [worker.pid for crew in crews for worker in crew.workers.values()]
    for crew in crews:
        crew.crew.close()
    assert not [pid for pid in pids if psutil.pid_exists(pid)]


def test_messages_arrive_whole_and_in_order(observed) -> None:
    crew = observed(worker_functions.echoing, 1)
    crew.poll_until(lambda: crew.crew.ready() == [0])
    big = np.arange(1_000_000, dtype=np.float64)
    for number in range(3):
        crew.crew.send(0, Message("say", {"number": number}, {"big": big + number}))
    crew.poll_until(lambda: sum(m.kind == "echo" for _, m in crew.messages) == 3)
    echoes = [message for _, message in crew.messages if message.kind == "echo"]
    assert [message.header["number"] for message in echoes] == [0, 1, 2]
    np.testing.assert_array_equal(echoes[2].arrays["big"], 2 * (big + 2))
    assert crew.crew.figures()[0].memory_mb > 10


def test_a_killed_worker_is_replaced_and_the_others_go_on(observed) -> None:
    crew = observed(worker_functions.counting, 2)
    crew.poll_until(lambda: crew.crew.ready() == [0, 1])
    victim, other = crew.workers[0].pid, crew.workers[1].pid
    os.kill(victim, signal.SIGKILL)
    seconds = crew.poll_until(lambda: bool(crew.events))
    assert seconds < 2.0
    event = crew.events[0]
    assert (event.worker, event.what) == ("actor 0", "killed by SIGKILL")
    assert event.done == "another one in 0.1 s"
    before = crew.heard_from(other)
    crew.poll_until(lambda: crew.workers[0].pid != victim and crew.heard_from(crew.workers[0].pid))
    assert crew.heard_from(other) > before
    numbers = [
        message.header["number"]
        for place, message in crew.messages
        if place == 1 and message.kind == "count"
    ]
    assert numbers == list(range(len(numbers)))  # nothing lost, nothing twice


def test_a_hung_worker_is_killed_and_replaced(observed) -> None:
    crew = observed(worker_functions.counting, 1)
    crew.poll_until(lambda: crew.crew.ready() == [0])
    victim = crew.workers[0].pid
    os.kill(victim, signal.SIGSTOP)
    seconds = crew.poll_until(lambda: bool(crew.events))
    assert QUICK.silence_seconds <= seconds + 0.6 < QUICK.silence_seconds + 3.0
    assert crew.events[0].what.startswith("silent for")
    crew.poll_until(lambda: crew.crew.ready() == [0])
    assert not psutil.pid_exists(victim)


def test_a_hung_worker_holds_up_nobody_who_talks_to_it(observed) -> None:
    crew = observed(worker_functions.echoing, 1)
    crew.poll_until(lambda: crew.crew.ready() == [0])
    os.kill(crew.workers[0].pid, signal.SIGSTOP)
    begun = time.monotonic()
    for _ in range(3):  # far more than a pipe holds
        crew.crew.send(0, Message("say", {"number": 0}, {"big": np.zeros(1_000_000)}))
    assert time.monotonic() - begun < QUICK.silence_seconds / 2
    crew.poll_until(lambda: bool(crew.events))
    assert crew.events[0].what.startswith("silent for")
    crew.poll_until(lambda: crew.crew.ready() == [0])


def test_a_worker_that_comes_back_in_time_is_left_alone(observed) -> None:
    crew = observed(worker_functions.counting, 1)
    crew.poll_until(lambda: crew.crew.ready() == [0])
    pid = crew.workers[0].pid
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + 1.0
    crew.poll_until(lambda: time.monotonic() > deadline)
    os.kill(pid, signal.SIGCONT)
    before = crew.heard_from(pid)
    crew.poll_until(lambda: crew.heard_from(pid) > before + 10)
    assert not crew.events


def test_a_worker_that_always_throws_is_dropped(observed, capfd) -> None:
    crew = observed(worker_functions.throwing, 1)
    with pytest.raises(WorkersLost, match="no actor is left: ValueError: this actor always fails"):
        crew.poll_until(lambda: False)
    assert [event.done for event in crew.events] == [
        "another one in 0.1 s",
        "another one in 0.2 s",
        "dropped after 3 failures",
    ]
    assert {event.what for event in crew.events} == {"ValueError: this actor always fails"}


def test_a_message_cut_in_half_is_no_message(observed) -> None:
    crew = observed(worker_functions.cut_off, 1)
    crew.poll_until(lambda: any(message.kind == "count" for _, message in crew.messages))
    assert crew.events[0].what == "ended with exit code 3"
    first = next(message for _, message in crew.messages if message.kind == "count")
    assert first.header["number"] == 0 and not first.arrays


def test_a_worker_that_is_never_ready_is_replaced(observed) -> None:
    crew = observed(worker_functions.sleepy, 1, RestartPolicy(start_seconds=3.0, first_pause=0.1))
    crew.poll_until(lambda: bool(crew.events))
    assert crew.events[0].what.startswith("not ready after 3 s")


PARENT = """
import sys, time, worker_functions
from rookery.workers import LocalWorker
if __name__ == "__main__":
    workers = [LocalWorker(f"actor {n}", worker_functions.counting, {}) for n in range(2)]
    while not all(worker.received() for worker in workers):
        time.sleep(0.05)
    print(*(worker.pid for worker in workers), flush=True)
    time.sleep(600)
"""


def test_no_worker_outlives_a_coordinator_that_was_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    paths = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "src")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, env=environment
    ) as parent:
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert len(pids) == 2 and all(map(psutil.pid_exists, pids))
        parent.kill()
        deadline = time.monotonic() + 5.0
        while any(map(_is_alive, pids)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(map(_is_alive, pids))


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_crew_grows_and_shrinks(observed) -> None:
    crew = observed(worker_functions.counting, 1)
    crew.crew.add_worker("is needed")
    crew.poll_until(lambda: crew.crew.ready() == [0, 1])
    gone = crew.workers[0].pid
    crew.crew.retire(0, "is not needed")
    assert crew.crew.size() == 1 and not psutil.pid_exists(gone)
    crew.poll_until(lambda: crew.heard_from(crew.workers[1].pid) > 3)
    assert crew.crew.ready() == [1]  # nobody fills the place again
    crew.crew.add_worker("is needed again")
    crew.poll_until(lambda: crew.crew.ready() == [0, 1])
    assert [(event.worker, event.done) for event in crew.events] == [
        ("actor 1", "added"),
        ("actor 0", "retired"),
        ("actor 0", "added"),
    ]
