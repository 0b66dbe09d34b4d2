"""Messages through Ray beside those of local processes, and how fast a killed worker is mended.

    python benchmarks/cluster.py [--seconds 5]

Both on this machine, Ray started for the purpose. Prints a line each, for processes and for Ray:

    one worker that answers: small messages/s, and MB/s each way of messages of 8 MB
    a killed worker: seconds until noticed, and until another one answers
"""

import argparse
import os
import signal
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rookery.workers import (
    Channel,
    Cluster,
    Message,
    ProcessWorker,
    Worker,
    WorkerEvent,
    WorkerPool,
)

IN_FLIGHT = 8
"""Messages that are under way at a time."""
BIG = np.zeros(1_000_000)

Start = Callable[[str, int, int], Worker]


def answering(link: Channel, job: Mapping[str, Any]) -> None:
    """Send back whatever comes."""
    link.send(Message("ready"))
    while True:
        message = link.receive(1.0)
        if message is not None:
            link.send(Message("answer", {"pid": os.getpid()}, message.arrays))


class Bench:
    """A crew of one."""

    def __init__(self, start: Start) -> None:
        self.events: list[tuple[float, WorkerEvent]] = []
        self.crew = WorkerPool("worker", 1, start, tell=self._tell)
        self.wait_for("ready")

    def wait_for(self, kind: str) -> Message:
        while True:
            for _, message in self.crew.poll():
                if message.kind == kind:
                    return message
            time.sleep(0.0005)

    def rate(self, arrays: Mapping[str, Any], seconds: float) -> float:
        """Messages that go there and come back, a second."""
        for _ in range(IN_FLIGHT):
            self.crew.send(0, Message("ask", {}, arrays))
        begun, count = time.monotonic(), 0
        while time.monotonic() - begun < seconds:
            answers = [message for _, message in self.crew.poll() if message.kind == "answer"]
            count += len(answers)
            for _ in answers:
                self.crew.send(0, Message("ask", {}, arrays))
            if not answers:
                time.sleep(0.0005)
        return count / (time.monotonic() - begun)

    def mend(self) -> tuple[float, float]:
        """Seconds until a killed worker is noticed, and until the next one answers."""
        pid = self.wait_for("answer").header["pid"]
        begun = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        self.wait_for("ready")
        self.crew.send(0, Message("ask"))
        self.wait_for("answer")
        return self.events[0][0] - begun, time.monotonic() - begun

    def _tell(self, event: WorkerEvent) -> None:
        self.events.append((time.monotonic(), event))


def measure(name: str, start: Start, seconds: float) -> None:
    bench = Bench(start)
    small = bench.rate({}, seconds)
    bench.wait_for("answer")
    big = bench.rate({"big": BIG}, seconds) * BIG.nbytes / 1e6
    noticed, mended = bench.mend()
    bench.crew.close()
    print(
        f"{name}: {small:.0f} small messages/s, {big:.0f} MB/s each way of 8 MB messages; "
        f"killed: noticed after {noticed:.2f} s, replaced after {mended:.2f} s",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    seconds = parser.parse_args().seconds
    measure("processes", lambda name, *_: ProcessWorker(name, answering, {}), seconds)
    cluster = Cluster("local")
    measure("Ray", lambda name, *_: cluster.start(name, answering, {}), seconds)
    cluster.close()


if __name__ == "__main__":
    main()
