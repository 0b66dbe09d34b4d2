"""Pools of real processes that are killed, stopped or cut off."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import forkserver
from pathlib import Path
from types import SimpleNamespace
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
    processes,
    thread_limits,
)
from worker_functions import Count, Echo, Say

PATIENT = RestartPolicy(silence_seconds=60.0, start_seconds=60.0, failures=2, first_pause=0.1)
"""A busy machine does not make workers look hung."""
TIMEOUT_SECONDS = 60.0


class Observed:
    """A pool, its processes, its messages and its events."""

    def __init__(
        self, function: Callable[..., None], size: int = 1, policy: RestartPolicy = PATIENT
    ) -> None:
        self.events: list[WorkerEvent] = []
        self.messages: list[tuple[int, Message]] = []
        self.workers: dict[int, ProcessWorker] = {}

        def start(name: str, number: int, start: int) -> ProcessWorker:
            self.workers[number] = ProcessWorker(name, function, start)
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

    def wait_until_ready(self) -> None:
        self.poll_until(lambda: len(self.pool.ready()) == len(self.workers))

    def counts(self, number: int) -> list[Count]:
        """What a worker has counted."""
        return [m for n, m in self.messages if n == number and isinstance(m, Count)]

    def has_counted(self, pid: int) -> bool:
        return any(isinstance(m, Count) and m.pid == pid for _, m in self.messages)


@pytest.fixture
def observe() -> Iterator[Callable[..., Observed]]:
    pools: list[Observed] = []

    def make(*arguments: Any, **options: Any) -> Observed:
        pools.append(Observed(*arguments, **options))
        return pools[-1]

    yield make
    pids = [worker.pid for each in pools for worker in each.workers.values()]
    for each in pools:
        each.pool.close()
    assert not [pid for pid in pids if psutil.pid_exists(pid)]


def test_messages_arrive_whole_and_in_order(observe: Callable[..., Observed]) -> None:
    observed = observe(worker_functions.echo)
    observed.wait_until_ready()
    big = np.arange(1_000_000, dtype=np.float64)
    for number in range(3):
        observed.pool.send(0, Say(number, {"big": big + number}))
    observed.poll_until(lambda: len(observed.messages) == 1 + 3)
    echoes = [message for _, message in observed.messages if isinstance(message, Echo)]
    assert [echo.number for echo in echoes] == [0, 1, 2]
    np.testing.assert_array_equal(echoes[2].arrays["big"], 2 * (big + 2))
    assert observed.pool.stats()[0].memory_mb > 10


def test_a_killed_worker_is_replaced_and_the_others_continue(
    observe: Callable[..., Observed],
) -> None:
    observed = observe(worker_functions.count, 2)
    observed.wait_until_ready()
    victim = observed.workers[0].pid
    os.kill(victim, signal.SIGKILL)
    assert observed.poll_until(lambda: observed.events) < PATIENT.silence_seconds / 2
    assert str(observed.events[0]) == "actor 0 was killed by SIGKILL; restarting in 0.1 s"
    before = len(observed.counts(1))
    observed.poll_until(lambda: observed.workers[0].pid != victim)
    observed.poll_until(lambda: observed.has_counted(observed.workers[0].pid))
    assert len(observed.counts(1)) > before
    numbers = [count.number for count in observed.counts(1)]
    assert numbers == list(range(len(numbers)))  # no message was lost or repeated


def test_a_stopped_worker_is_killed_and_does_not_block_its_coordinator(
    observe: Callable[..., Observed],
) -> None:
    observed = observe(worker_functions.echo, policy=replace(PATIENT, silence_seconds=5.0))
    observed.wait_until_ready()
    victim = observed.workers[0].pid
    os.kill(victim, signal.SIGSTOP)
    for _ in range(3):  # far more than a pipe holds
        observed.pool.send(0, Say(0, {"big": np.zeros(1_000_000)}))
    assert psutil.Process(victim).status() == psutil.STATUS_STOPPED
    observed.poll_until(lambda: observed.events)
    assert observed.events[0].what.startswith("was silent for ")
    observed.poll_until(lambda: observed.pool.ready() == [0])
    assert not psutil.pid_exists(victim)


def test_a_worker_that_always_fails_is_dropped_with_its_reason(
    observe: Callable[..., Observed], capfd: pytest.CaptureFixture[str]
) -> None:
    observed = observe(worker_functions.fail_at_once)
    what = "failed: ValueError: this actor always fails"
    with pytest.raises(WorkersLost, match=f"no actor is left; the last one {what}"):
        observed.poll_until(lambda: False)
    assert [event.what for event in observed.events] == [what] * 3


def test_half_a_message_is_ignored(observe: Callable[..., Observed]) -> None:
    observed = observe(worker_functions.die_within_message)
    observed.poll_until(lambda: observed.counts(0))
    assert observed.events[0].what == "ended with exit code 3"
    assert observed.counts(0)[0].number == 0 and not observed.counts(0)[0].arrays


def test_a_worker_that_sends_garbage_is_replaced(observe: Callable[..., Observed]) -> None:
    observed = observe(worker_functions.send_garbage)
    observed.poll_until(lambda: observed.events)
    assert observed.events[0].what.startswith("sent bytes that cannot be read: a message of 7 byt")


PARENT = """
import sys, time, worker_functions
from rookery.workers import ProcessWorker
if __name__ == "__main__":
    workers = [ProcessWorker(f"actor {n}", worker_functions.count, 1) for n in range(2)]
    while not all(worker.received() for worker in workers):
        time.sleep(0.05)
    print(*(worker.pid for worker in workers), flush=True)
    time.sleep(600)
"""


def test_no_worker_outlives_a_killed_coordinator_even_if_it_hangs(tmp_path: Path) -> None:
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
        os.kill(pids[0], signal.SIGSTOP)
        parent.kill()
        _wait_until(lambda: not any(map(_is_alive, pids)))


SLOW_PARENT = """
import os, threading
from multiprocessing import forkserver
import worker_functions
from rookery.workers import ProcessWorker, processes
if __name__ == "__main__":
    processes.preload("slow_to_import")
    start = threading.Thread(target=ProcessWorker, args=("actor", worker_functions.count, 1))
    start.start()
    while forkserver._forkserver._forkserver_pid is None:
        pass
    print(forkserver._forkserver._forkserver_pid, flush=True)
    start.join()
"""


def test_the_server_of_workers_ends_with_its_coordinator_while_it_imports(tmp_path: Path) -> None:
    (tmp_path / "slow_to_import.py").write_text(
        f"from pathlib import Path\nPath({str(tmp_path / 'begun')!r}).touch()\n"
        "import time\ntime.sleep(30)\n"
    )
    script = tmp_path / "parent.py"
    script.write_text(SLOW_PARENT)
    paths = [str(tmp_path), str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "src")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, env=environment
    ) as parent:
        assert parent.stdout is not None
        server = int(parent.stdout.readline())
        _wait_until((tmp_path / "begun").exists)
        assert _is_alive(server)
        parent.kill()
        _wait_until(lambda: not _is_alive(server))


def test_the_thread_that_starts_the_first_worker_may_end(observe: Callable[..., Observed]) -> None:
    server: Any = forkserver._forkserver
    server._stop()
    with ThreadPoolExecutor(1) as other_thread:
        observed = other_thread.submit(observe, worker_functions.count).result()
    observed.wait_until_ready()
    observed.poll_until(lambda: len(observed.counts(0)) > 3)
    assert not observed.events


def test_a_sigterm_ends_a_worker_but_not_the_server(observe: Callable[..., Observed]) -> None:
    observed = observe(worker_functions.count)
    observed.wait_until_ready()
    server: Any = forkserver._forkserver
    for pid in (server._forkserver_pid, observed.workers[0].pid):
        os.kill(pid, signal.SIGTERM)
    observed.poll_until(lambda: observed.events)
    assert observed.events[0].what == "was killed by SIGTERM"
    observed.poll_until(lambda: observed.has_counted(observed.workers[0].pid))
    assert _is_alive(server._forkserver_pid)


def _wait_until(is_so: Callable[[], bool], seconds: float = TIMEOUT_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _is_alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_thread_limits_name_the_variables_of_all_libraries() -> None:
    assert set(thread_limits(2).values()) == {"2"} and "OMP_NUM_THREADS" in thread_limits(2)


def test_a_worker_keeps_to_its_threads_and_leaves_numba_its_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits: dict[str, int] = {}
    for name in ("torch", "numba"):
        library = SimpleNamespace(
            get_num_threads=lambda: 8, set_num_threads=partial(limits.__setitem__, name)
        )
        monkeypatch.setitem(sys.modules, name, library)
    monkeypatch.setattr(os, "environ", {})
    processes._use({**thread_limits(2), "COLOUR": "red"})
    assert limits == {"torch": 2, "numba": 2}
    assert os.environ["COLOUR"] == "red" and os.environ["OMP_NUM_THREADS"] == "2"
    assert "NUMBA_NUM_THREADS" not in os.environ
