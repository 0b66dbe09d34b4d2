"""Crews on a Ray of this machine, and what happens to them: killed, stopped, throwing, waiting."""

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
from rookery.base import RookeryError
from rookery.workers import (
    Cluster,
    ClusterWorker,
    Message,
    RestartPolicy,
    WorkerEvent,
    WorkerPool,
    WorkersLost,
)

pytestmark = pytest.mark.cluster

TESTS = Path(__file__).parents[1]
PATHS = {"PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])}
QUICK = RestartPolicy(silence_seconds=2.5, start_seconds=5.0, restarts=2, first_pause=0.1)
PATIENCE = 60.0
CPUS = 2


def children() -> set[psutil.Process]:
    """The processes below this one."""
    return set(psutil.Process().children(recursive=True))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_OVERRIDE_RESOURCES", f'{{"CPU": {CPUS}}}')
        before = children()
        cluster = Cluster("local")
        processes = children() - before
        assert processes
        yield cluster
        processes |= children() - before
        cluster.close()
        assert not psutil.wait_procs(processes, timeout=10.0)[1]


class Observed:
    """A crew and what was told about it."""

    def __init__(self, cluster: Cluster, role: Callable[..., None], size: int) -> None:
        self.events: list[WorkerEvent] = []
        self.messages: list[tuple[int, Message]] = []
        self.workers: dict[int, ClusterWorker] = {}

        def start(name: str, number: int, incarnation: int) -> ClusterWorker:
            job = {"incarnation": incarnation}
            self.workers[number] = cluster.start(name, role, job, environment=PATHS)
            return self.workers[number]

        self.crew = WorkerPool("actor", size, start, limits=QUICK, tell=self.events.append)

    def poll_until(self, done: Callable[[], object]) -> float:
        """Poll until `done`; the seconds that took."""
        begun = time.monotonic()
        while not done():
            assert time.monotonic() - begun < PATIENCE, self.events
            self.messages += self.crew.poll()
            time.sleep(0.01)
        return time.monotonic() - begun

    def poll_for(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        self.poll_until(lambda: time.monotonic() > deadline)

    def pid(self, number: int) -> int:
        """The process of a place's newest worker that has said something."""
        self.poll_until(lambda: self.numbers(number))
        said = [m for place, m in self.messages if place == number and m.kind == "count"]
        return said[-1].header["pid"]

    def numbers(self, place: int) -> list[int]:
        """What a place has counted."""
        return [m.header["number"] for at, m in self.messages if (at, m.kind) == (place, "count")]


@pytest.fixture
def observed(cluster: Cluster) -> Iterator[Callable[..., Observed]]:
    crews: list[Observed] = []

    def make(*arguments: Any) -> Observed:
        crews.append(Observed(cluster, *arguments))
        return crews[-1]

    yield make
    for crew in crews:
        crew.crew.close()


def test_messages_arrive_whole_and_in_order(observed) -> None:
    crew = observed(worker_functions.echoing, 1)
    crew.poll_until(lambda: crew.crew.ready() == [0])
    big = np.arange(1_000_000, dtype=np.float64)
    for number in range(20):
        arrays = {"big": big + number} if number % 5 == 0 else {}
        crew.crew.send(0, Message("say", {"number": number}, arrays))
    crew.poll_until(lambda: sum(m.kind == "echo" for _, m in crew.messages) == 20)
    echoes = [message for _, message in crew.messages if message.kind == "echo"]
    assert [message.header["number"] for message in echoes] == list(range(20))
    np.testing.assert_array_equal(echoes[15].arrays["big"], 2 * (big + 15))


def test_a_message_for_all_reaches_all(observed) -> None:
    crew = observed(worker_functions.echoing, 2)
    crew.poll_until(lambda: crew.crew.ready() == [0, 1])
    message = Message("say", {"number": 7}, {"big": np.ones(100_000)})
    for number in crew.crew.ready():
        crew.crew.send(number, message)
    crew.poll_until(lambda: sum(m.kind == "echo" for _, m in crew.messages) == 2)
    assert {place for place, m in crew.messages if m.kind == "echo"} == {0, 1}


def test_a_killed_worker_is_replaced_and_the_others_go_on(observed) -> None:
    crew = observed(worker_functions.counting, 2)
    crew.poll_until(lambda: crew.crew.ready() == [0, 1])
    victim = crew.pid(0)
    os.kill(victim, signal.SIGKILL)
    assert crew.poll_until(lambda: crew.events) < 2.0
    event = crew.events[0]
    assert (event.worker, event.what) == ("actor 0", "lost: its worker process has died")
    before = len(crew.numbers(1))
    crew.poll_until(lambda: crew.pid(0) != victim)
    assert len(crew.numbers(1)) > before
    assert crew.numbers(1) == list(range(len(crew.numbers(1))))  # nothing lost, nothing twice


def test_a_hung_worker_is_killed_and_replaced(observed) -> None:
    crew = observed(worker_functions.counting, 1)
    crew.poll_until(lambda: crew.crew.ready() == [0])
    victim = crew.pid(0)
    os.kill(victim, signal.SIGSTOP)
    seconds = crew.poll_until(lambda: crew.events)
    assert QUICK.silence_seconds <= seconds + 0.6 < QUICK.silence_seconds + 3.0
    assert crew.events[0].what.startswith("silent for")
    crew.poll_until(lambda: crew.crew.ready() == [0])
    crew.poll_until(lambda: not psutil.pid_exists(victim))


def test_a_worker_that_always_throws_is_dropped(observed) -> None:
    crew = observed(worker_functions.throwing, 1)
    with pytest.raises(WorkersLost, match="no actor is left: ValueError: this actor always fails"):
        crew.poll_until(lambda: False)
    assert crew.events[-1].done == "dropped after 3 failures"
    assert {event.what for event in crew.events} == {"ValueError: this actor always fails"}


def test_a_worker_for_which_there_is_no_room_waits_and_is_not_blamed(observed) -> None:
    crew = observed(worker_functions.counting, CPUS + 1)
    crew.poll_until(lambda: len(crew.crew.ready()) == CPUS)
    crew.poll_for(QUICK.start_seconds + 1.0)
    assert [worker.is_waiting() for worker in crew.workers.values()].count(True) == 1
    assert not crew.events
    first = crew.crew.ready()[0]
    os.kill(crew.pid(first), signal.SIGKILL)
    crew.poll_until(lambda: len(crew.crew.ready()) == CPUS and first not in crew.crew.ready())
    assert len(crew.events) == 1


def test_a_worker_whose_code_is_missing_there_says_so(cluster: Cluster) -> None:
    worker = cluster.start("actor", worker_functions.counting, {})  # without the path of the tests
    deadline = time.monotonic() + PATIENCE
    while not worker.death():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert worker.death() == "lost: ModuleNotFoundError: No module named 'worker_functions'"


def test_what_the_cluster_has_is_known(cluster: Cluster) -> None:
    capacity = cluster.capacity()
    assert (capacity.machines, capacity.cpus, capacity.gpus) == (1, CPUS, 0)


def test_an_address_where_no_ray_answers_is_an_error_soon(monkeypatch) -> None:
    monkeypatch.setattr("rookery.workers.ray_session.CONNECT_SECONDS", 3.0)
    begun = time.monotonic()
    with pytest.raises(RookeryError, match=r"no Ray answers at .* within 3 s; start one"):
        Cluster("127.0.0.1:1")
    assert time.monotonic() - begun < 10.0


def test_without_ray_it_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(RookeryError, match=r"needs Ray \(pip install 'rookery\[cluster\]'\)"):
        Cluster("local")


def test_ray_is_imported_only_when_it_is_used() -> None:
    code = "import sys, rookery.workers; sys.exit('ray' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], env=os.environ | PATHS, check=True)


PARENT = """
import sys, time, worker_functions
from rookery.workers import Cluster
cluster = Cluster("local")
workers = [cluster.start(f"actor {n}", worker_functions.counting, {}) for n in range(2)]
while not all(worker.received() for worker in workers):
    time.sleep(0.05)
print("ready", flush=True)
time.sleep(600)
"""


def test_no_worker_outlives_a_coordinator_that_was_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env=os.environ | PATHS
    ) as parent:
        assert parent.stdout is not None and parent.stdout.readline() == b"ready\n"
        started = psutil.Process(parent.pid).children(recursive=True)
        workers = [process for process in started if "Host" in process.name()]
        assert len(workers) == 2
        parent.kill()
        assert not psutil.wait_procs(workers, timeout=10.0)[1]
