"""A crew on two hosts, one of which is killed, cut off or late; no work is lost, and none twice."""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from cluster_coordinator import LIMITS
from cluster_hosts import ADDRESSES, CPUS, HEAD, NODE, PORT, Hosts, lacks, wait_until
from rookery.workers.ray_session import CONNECT_SECONDS

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(bool(lacks()), reason=f"no network namespaces: {lacks()}"),
]
PATIENCE = 90.0


class Run:
    """A coordinator on the head, and what it has told."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.told: list[dict[str, Any]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [what for what in self.told if what["kind"] == kind]

    def working(self, seconds: float = 1.0) -> dict[int, int]:
        """Who has worked within the last seconds: processes by their places."""
        since = time.monotonic() - seconds
        return {work["place"]: work["pid"] for work in self.of_kind("done") if work["at"] > since}

    def wait_for_workers(self, count: int) -> None:
        wait_until(lambda: len(self.working()) == count, PATIENCE, self.told[-3:])

    def finish(self) -> None:
        """Every piece of work is there once, and right: what an undisturbed run gives."""
        assert self._process.stdin is not None
        self._process.stdin.write("finish\n")
        self._process.stdin.flush()
        assert self._process.wait(PATIENCE) == 0
        wait_until(lambda: self.of_kind("closed"), PATIENCE)
        pieces = self.of_kind("finished")[0]["pieces"]
        done = sorted((work["piece"], work["square"]) for work in self.of_kind("done"))
        assert done == [(piece, piece**2) for piece in range(pieces)]

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.told.append(json.loads(line))


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


def test_a_machine_that_has_not_joined_is_told_so(hosts: Hosts) -> None:
    begun = time.monotonic()
    process = hosts.run(NODE, "cluster_coordinator", f"{ADDRESSES[HEAD]}:{PORT}", "1", "1")
    assert process.wait(PATIENCE) == 1
    assert time.monotonic() - begun < 2 * CONNECT_SECONDS + 10.0
    last = hosts.errors(NODE).splitlines()[-1]
    assert "this machine has not joined the Ray at 10.88.0.1:6379; do that first" in last


@pytest.fixture
def spread(hosts: Hosts) -> Run:
    """A run with a worker on each host."""
    hosts.start_ray(NODE)
    run = start(hosts, machines=2, size=2)
    run.wait_for_workers(2)
    assert len(hosts.pids(HEAD) & set(run.working().values())) == 1
    assert len(hosts.pids(NODE) & set(run.working().values())) == 1
    return run


def replaced_on_the_head(hosts: Hosts, run: Run, begun: float) -> None:
    """The other worker goes on, and a new one works beside it; prints the times (pytest -s)."""
    wait_until(lambda: run.of_kind("event"), PATIENCE)
    noticed = run.of_kind("event")[0]["at"] - begun
    assert noticed < LIMITS.silence_seconds + 1.5
    wait_until(lambda: len(hosts.pids(HEAD) & set(run.working().values())) == 2, PATIENCE)
    replaced = run.of_kind("ready")[-1]["at"] - begun
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
    seconds = wait_until(lambda: not lost & hosts.pids(NODE), PATIENCE)
    print(f"the old one was gone {seconds:.1f} s after the cut was mended", flush=True)
    spread.finish()
    hosts.kill_all(NODE)


def test_a_worker_waits_for_room_until_another_host_comes(hosts: Hosts) -> None:
    run = start(hosts, machines=1, size=CPUS + 1)
    run.wait_for_workers(CPUS)
    time.sleep(LIMITS.start_seconds + 1.0)
    assert len(run.working()) == CPUS
    hosts.start_ray(NODE)
    begun = time.monotonic()
    run.wait_for_workers(CPUS + 1)
    print(f"\na new host was put to work within {time.monotonic() - begun:.1f} s", flush=True)
    assert not run.of_kind("event")
    workers = set(run.working().values())
    run.finish()
    wait_until(lambda: not workers & (hosts.pids(HEAD) | hosts.pids(NODE)), PATIENCE)
    hosts.kill_all(NODE)
