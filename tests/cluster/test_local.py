"""Pools on a Ray of this machine, whose workers are killed, stopped, fail or wait."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
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
from worker_functions import Count, Echo, Say

pytestmark = pytest.mark.cluster

TESTS = Path(__file__).parents[1]
PATHS = {"PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])}
PATIENT = RestartPolicy(silence_seconds=60.0, start_seconds=60.0, failures=2, first_pause=0.1)
"""A busy machine does not make workers look hung."""
QUICK = replace(PATIENT, silence_seconds=2.5, start_seconds=5.0)
TIMEOUT_SECONDS = 60.0
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
        assert not psutil.wait_procs(processes, timeout=TIMEOUT_SECONDS)[1]


class Observed:
    """A pool, its workers, its messages and its events."""

    def __init__(
        self,
        cluster: Cluster,
        function: Callable[..., None],
        size: int,
        policy: RestartPolicy = PATIENT,
    ) -> None:
        self.events: list[WorkerEvent] = []
        self.messages: list[tuple[int, Message]] = []
        self.workers: dict[int, ClusterWorker] = {}

        def start(name: str, number: int, start: int) -> ClusterWorker:
            self.workers[number] = cluster.start(name, function, start, environment=PATHS)
            return self.workers[number]

        self.pool = WorkerPool("actor", size, start, policy=policy, on_event=self.events.append)

    def poll_until(self, is_done: Callable[[], object]) -> float:
        """Poll until something is so; return the seconds that it took."""
        begun = time.monotonic()
        while not is_done():
            assert time.monotonic() - begun < TIMEOUT_SECONDS, self.events
            self.messages += self.pool.poll()
            time.sleep(0.01)
        return time.monotonic() - begun

    def poll_for(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        self.poll_until(lambda: time.monotonic() > deadline)

    def pid(self, number: int) -> int:
        """The process of the last worker of this number that has counted."""
        self.poll_until(lambda: self.counts(number))
        return self.counts(number)[-1].pid

    def counts(self, number: int) -> list[Count]:
        """What the workers of a number have counted."""
        return [m for n, m in self.messages if n == number and isinstance(m, Count)]

    def echoes(self) -> list[Echo]:
        return [m for _, m in self.messages if isinstance(m, Echo)]


@pytest.fixture
def observe(cluster: Cluster) -> Iterator[Callable[..., Observed]]:
    pools: list[Observed] = []

    def make(*arguments: Any) -> Observed:
        pools.append(Observed(cluster, *arguments))
        return pools[-1]

    yield make
    for each in pools:
        each.pool.close()


def test_messages_arrive_whole_and_in_order(observe: Callable[..., Observed]) -> None:
    observed = observe(worker_functions.echo, 1)
    observed.poll_until(lambda: observed.pool.ready() == [0])
    big = np.arange(1_000_000, dtype=np.float64)
    for number in range(20):
        arrays = {"big": big + number} if number % 5 == 0 else {}
        observed.pool.send(0, Say(number, arrays))
    observed.poll_until(lambda: len(observed.echoes()) == 20)
    assert [message.number for message in observed.echoes()] == list(range(20))
    np.testing.assert_array_equal(observed.echoes()[15].arrays["big"], 2 * (big + 15))


@pytest.mark.slow
def test_a_message_for_all_reaches_all(observe: Callable[..., Observed]) -> None:
    observed = observe(worker_functions.echo, 2)
    observed.poll_until(lambda: observed.pool.ready() == [0, 1])
    message = Say(7, {"big": np.ones(100_000)})
    for number in observed.pool.ready():
        observed.pool.send(number, message)
    observed.poll_until(lambda: len(observed.echoes()) == 2)
    assert {number for number, m in observed.messages if isinstance(m, Echo)} == {0, 1}


def test_a_killed_worker_is_replaced_and_the_others_continue(
    observe: Callable[..., Observed],
) -> None:
    observed = observe(worker_functions.count, 2)
    observed.poll_until(lambda: observed.pool.ready() == [0, 1])
    victim = observed.pid(0)
    os.kill(victim, signal.SIGKILL)
    assert observed.poll_until(lambda: observed.events) < PATIENT.silence_seconds / 2
    event = observed.events[0]
    assert (event.worker, event.what) == ("actor 0", "was lost: its worker process has died")
    before = len(observed.counts(1))
    observed.poll_until(lambda: observed.pid(0) != victim)
    numbers = [message.number for message in observed.counts(1)]
    assert len(numbers) > before
    assert numbers == list(range(len(numbers)))  # no message was lost or repeated


@pytest.mark.slow
def test_a_hung_worker_is_killed_and_replaced(observe: Callable[..., Observed]) -> None:
    observed = observe(worker_functions.count, 1, QUICK)
    observed.poll_until(lambda: observed.pool.ready() == [0])
    victim = observed.pid(0)
    os.kill(victim, signal.SIGSTOP)
    seconds = observed.poll_until(lambda: observed.events)
    assert QUICK.silence_seconds <= seconds + 0.6 < QUICK.silence_seconds + 3.0
    assert observed.events[0].what.startswith("was silent for")
    observed.poll_until(lambda: observed.pool.ready() == [0])
    observed.poll_until(lambda: not psutil.pid_exists(victim))


@pytest.mark.slow
def test_a_worker_that_always_fails_is_dropped(observe: Callable[..., Observed]) -> None:
    observed = observe(worker_functions.fail_at_once, 1)
    with pytest.raises(
        WorkersLost, match="no actor is left; the last one failed: ValueError: this"
    ):
        observed.poll_until(lambda: False)
    assert observed.events[-1].done == "dropped after 3 failures"
    assert {event.what for event in observed.events} == {
        "failed: ValueError: this actor always fails"
    }


@pytest.mark.slow
def test_a_worker_without_a_free_cpu_waits(observe: Callable[..., Observed]) -> None:
    observed = observe(worker_functions.count, CPUS + 1, QUICK)
    observed.poll_until(lambda: len(observed.pool.ready()) == CPUS)
    observed.poll_for(QUICK.start_seconds + 1.0)
    assert [worker.is_queued() for worker in observed.workers.values()].count(True) == 1
    assert not observed.events
    first = observed.pool.ready()[0]
    os.kill(observed.pid(first), signal.SIGKILL)
    observed.poll_until(
        lambda: len(observed.pool.ready()) == CPUS and first not in observed.pool.ready()
    )
    assert len(observed.events) == 1


def test_a_worker_whose_code_is_missing_is_reported(cluster: Cluster) -> None:
    worker = cluster.start("actor", worker_functions.count, 1)  # without the path of the tests
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not worker.death():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert worker.death() == "was lost: ModuleNotFoundError: No module named 'worker_functions'"


def test_a_cluster_reports_its_capacity(cluster: Cluster) -> None:
    capacity = cluster.capacity()
    assert (capacity.machines, capacity.cpus, capacity.gpus) == (1, CPUS, 0)


def test_an_address_without_ray_is_an_error_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.workers.ray_session.CONNECT_SECONDS", 3.0)
    begun = time.monotonic()
    with pytest.raises(RookeryError, match=r"no Ray answers at .* within 3 s; start one"):
        Cluster("127.0.0.1:1")
    assert time.monotonic() - begun < 30.0  # Ray itself would try for minutes


def test_the_error_without_ray_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
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
workers = [cluster.start(f"actor {n}", worker_functions.count, 1) for n in range(2)]
while not all(worker.received() for worker in workers):
    time.sleep(0.05)
print("ready", flush=True)
time.sleep(600)
"""


def test_no_worker_outlives_a_killed_coordinator() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env=os.environ | PATHS
    ) as parent:
        assert parent.stdout is not None and parent.stdout.readline() == b"ready\n"
        started = psutil.Process(parent.pid).children(recursive=True)
        workers = [process for process in started if "Host" in process.name()]
        assert len(workers) == 2
        parent.kill()
        assert not psutil.wait_procs(workers, timeout=TIMEOUT_SECONDS)[1]
