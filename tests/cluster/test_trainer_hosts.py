"""Trainers on two hosts, one of which is killed or cut off: every update is made once."""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster_hosts import ADDRESSES, HEAD, NODE, PORT, Hosts, lacks, wait_until
from faulty_trainers import IMPATIENT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.cluster,
    pytest.mark.skipif(bool(lacks()), reason=f"no network namespaces: {lacks()}"),
]
TIMEOUT_SECONDS = 180.0


class Run:
    """A coordinator on the head, and the lines that it has printed."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.lines: list[dict[str, Any]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["kind"] == kind]

    def wait_for_two(self, since: float = 0.0) -> float:
        """Wait for an update by both trainers after some time; return when it was made."""

        def found() -> list[float]:
            both = ["trainer 0", "trainer 1"]
            learned = [line for line in self.of_kind("learned") if line["ranks"] == both]
            return [line["at"] for line in learned if line["at"] > since]

        wait_until(found, TIMEOUT_SECONDS, self.lines[-3:])
        return found()[0]

    def finish(self) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write("finish\n")
        self._process.stdin.flush()
        assert self._process.wait(TIMEOUT_SECONDS) == 0
        wait_until(lambda: self.of_kind("closed"), TIMEOUT_SECONDS)
        return self.of_kind("finished")[0]

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


def trainers_on(hosts: Hosts, name: str) -> set[int]:
    """The processes of a host in which Ray runs a worker."""
    found = set()
    for pid in hosts.pids(name):
        try:
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::Host"):
                found.add(pid)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("fault", ["kill", "cut"])
def test_a_host_is_lost_and_every_update_is_made_once(hosts: Hosts, fault: str) -> None:
    hosts.start_ray(NODE)
    run = Run(hosts.run(HEAD, "trainer_coordinator", f"{ADDRESSES[HEAD]}:{PORT}", "2"))
    run.wait_for_two()
    lost = trainers_on(hosts, NODE)
    assert len(lost) == len(trainers_on(hosts, HEAD)) == 1, "one trainer on each host"
    assert not run.of_kind("event")

    begun, before = time.monotonic(), len(run.of_kind("learned"))
    if fault == "kill":
        hosts.kill_all(NODE)
    else:
        hosts.cut()
    wait_until(lambda: len(run.of_kind("learned")) > before + 1, TIMEOUT_SECONDS)
    went_on = run.of_kind("learned")[before + 1]["at"] - begun
    assert went_on < 3 * IMPATIENT.silence_seconds, "the other trainer goes on alone"
    replaced = run.wait_for_two(since=begun + went_on) - begun
    print(f"\n{fault}: went on after {went_on:.1f} s, replaced after {replaced:.1f} s", flush=True)
    assert len(trainers_on(hosts, HEAD)) == 2
    hosts.join()
    wait_until(lambda: not lost & hosts.pids(NODE), TIMEOUT_SECONDS)

    finished = run.finish()
    updates = [line["updates"] for line in run.of_kind("learned")]
    assert updates == list(range(1, finished["updates"] + 1))
    assert finished["apart"] < 2e-3, finished
    assert len(run.of_kind("event")) == 1, run.of_kind("event")
    hosts.kill_all(NODE)
