"""A pool on two hosts, one of which is killed, cut off or late; all work is done once."""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from cluster_coordinator import POLICY
from cluster_hosts import ADDRESSES, CPUS, HEAD, NODE, PORT, Hosts, lacks, wait_until
from rookery.workers.ray_session import CONNECT_SECONDS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.cluster,
    pytest.mark.skipif(bool(lacks()), reason=f"no network namespaces: {lacks()}"),
]
TIMEOUT_SECONDS = 90.0


class Run:
    """A coordinator on the head, and the lines that it has printed."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.lines: list[dict[str, Any]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["kind"] == kind]

    def working(self, seconds: float = 1.0) -> dict[int, int]:
        """The processes that have worked within the last seconds, by worker."""
        since = time.monotonic() - seconds
        done = self.of_kind("Squared")
        return {work["worker"]: work["pid"] for work in done if work["at"] > since}

    def wait_for_workers(self, count: int) -> None:
        wait_until(lambda: len(self.working()) == count, TIMEOUT_SECONDS, self.lines[-3:])

    def finish(self) -> None:
        """Every number was squared once, as in a run without failures."""
        assert self._process.stdin is not None
        self._process.stdin.write("finish\n")
        self._process.stdin.flush()
        assert self._process.wait(TIMEOUT_SECONDS) == 0
        wait_until(lambda: self.of_kind("closed"), TIMEOUT_SECONDS)
        count = self.of_kind("finished")[0]["count"]
        done = sorted((work["number"], work["square"]) for work in self.of_kind("Squared"))
        assert done == [(number, number**2) for number in range(count)]

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(json.loads(line))


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    made = Hosts(tmp_path_factory.mktemp("hosts"))
    try:
        made.build()
        made.start_ray(HEAD)
        yield made
    finally:
        made.remove()


def start(hosts: Hosts, *, machines: int, size: int) -> Run:
    address = f"{ADDRESSES[HEAD]}:{PORT}"
    return Run(hosts.run(HEAD, "cluster_coordinator", address, str(machines), str(size)))


def test_a_machine_that_has_not_joined_gets_a_clear_error(hosts: Hosts) -> None:
    begun = time.monotonic()
    process = hosts.run(NODE, "cluster_coordinator", f"{ADDRESSES[HEAD]}:{PORT}", "1", "1")
    assert process.wait(TIMEOUT_SECONDS) == 1
    assert time.monotonic() - begun < 2 * CONNECT_SECONDS + 10.0
    last = hosts.errors(NODE).splitlines()[-1]
    assert "this machine has not joined the Ray at 10.88.0.1:6379; do that first" in last


@pytest.fixture
def spread(hosts: Hosts) -> Run:
    """A run with one worker on each host."""
    hosts.start_ray(NODE)
    run = start(hosts, machines=2, size=2)
    run.wait_for_workers(2)
    assert len(hosts.pids(HEAD) & set(run.working().values())) == 1
    assert len(hosts.pids(NODE) & set(run.working().values())) == 1
    return run


def replaced_on_the_head(hosts: Hosts, run: Run, begun: float) -> None:
    """The other worker continues, and a new one joins it; print the times (pytest -s)."""
    wait_until(lambda: run.of_kind("event"), TIMEOUT_SECONDS)
    noticed = run.of_kind("event")[0]["at"] - begun
    assert noticed < POLICY.silence_seconds + 1.5
    wait_until(lambda: len(hosts.pids(HEAD) & set(run.working().values())) == 2, TIMEOUT_SECONDS)
    replaced = run.of_kind("Ready")[-1]["at"] - begun
    print(f"\nnoticed after {noticed:.1f} s, replaced after {replaced:.1f} s", flush=True)
    assert len(run.of_kind("event")) == 1


def test_a_worker_of_a_killed_host_is_replaced_on_the_other(hosts: Hosts, spread: Run) -> None:
    begun = time.monotonic()
    hosts.kill_all(NODE)
    replaced_on_the_head(hosts, spread, begun)
    spread.finish()


def test_a_worker_of_a_host_that_is_cut_off_is_replaced_and_ends(hosts: Hosts, spread: Run) -> None:
    lost = set(spread.working().values()) & hosts.pids(NODE)
    begun = time.monotonic()
    hosts.cut()
    replaced_on_the_head(hosts, spread, begun)
    hosts.join()
    seconds = wait_until(lambda: not lost & hosts.pids(NODE), TIMEOUT_SECONDS)
    print(f"the old one ended {seconds:.1f} s after the connection was restored", flush=True)
    spread.finish()
    hosts.kill_all(NODE)


def test_a_worker_waits_until_another_host_joins(hosts: Hosts) -> None:
    run = start(hosts, machines=1, size=CPUS + 1)
    run.wait_for_workers(CPUS)
    time.sleep(POLICY.start_seconds + 1.0)
    assert len(run.working()) == CPUS
    hosts.start_ray(NODE)
    begun = time.monotonic()
    run.wait_for_workers(CPUS + 1)
    print(f"\na new host worked within {time.monotonic() - begun:.1f} s", flush=True)
    assert not run.of_kind("event")
    workers = set(run.working().values())
    run.finish()
    wait_until(lambda: not workers & (hosts.pids(HEAD) | hosts.pids(NODE)), TIMEOUT_SECONDS)
    hosts.kill_all(NODE)
