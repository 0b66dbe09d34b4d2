"""Messages through Ray and through pipes, and how fast a killed worker is replaced.

    python benchmarks/cluster.py [--seconds 5]

Both on this machine, with a Ray that is started for the purpose. Prints one line for processes and
one for Ray:

    one worker that answers: small messages/s, and MB/s in each direction of messages of 8 MB
    a killed worker: seconds until noticed, and until its replacement answers
"""

import argparse
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery import __version__
from rookery.workers import (
    Channel,
    Cluster,
    Message,
    ProcessWorker,
    Ready,
    WorkerEvent,
    WorkerPool,
)
from rookery.workers.pool import StartWorker

IN_FLIGHT = 8
"""Questions that are not yet answered at any time."""
IDLE_SECONDS = 0.0005
BIG = np.zeros(1_000_000)

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Ask(Message):
    arrays: Arrays


@dataclass(frozen=True)
class Answer(Message):
    pid: int
    arrays: Arrays


def answer(channel: Channel, job: None) -> None:
    """Send back the arrays of every question."""
    channel.send(Ready(__version__))
    while True:
        message = channel.receive(1.0)
        if isinstance(message, Ask):
            channel.send(Answer(os.getpid(), message.arrays))


class Bench:
    """A pool of one worker."""

    def __init__(self, start: StartWorker) -> None:
        self.events: list[tuple[float, WorkerEvent]] = []
        self.pool = WorkerPool("worker", 1, start, on_event=self._keep)
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        while not any(isinstance(message, Ready) for _, message in self.pool.poll()):
            time.sleep(IDLE_SECONDS)

    def ask(self, arrays: Arrays) -> Answer:
        """Return the answer to a single question."""
        self.pool.send(0, Ask(arrays))
        while True:
            for answered in self.answers():
                return answered

    def answers(self) -> list[Answer]:
        """Return the answers that have arrived; wait a little if there are none."""
        found = [message for _, message in self.pool.poll() if isinstance(message, Answer)]
        if not found:
            time.sleep(IDLE_SECONDS)
        return found

    def rate(self, arrays: Arrays, seconds: float) -> float:
        """Return questions per second that were sent and answered."""
        for _ in range(IN_FLIGHT):
            self.pool.send(0, Ask(arrays))
        begun, count, waiting = time.monotonic(), 0, IN_FLIGHT
        while time.monotonic() - begun < seconds:
            for _ in self.answers():
                count += 1
                self.pool.send(0, Ask(arrays))
        rate = count / (time.monotonic() - begun)
        while waiting:
            waiting -= len(self.answers())
        return rate

    def repair(self) -> tuple[float, float]:
        """Return seconds from a kill until it is noticed, and until the replacement answers."""
        pid = self.ask({}).pid
        begun = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        self.wait_until_ready()
        self.ask({})
        return self.events[0][0] - begun, time.monotonic() - begun

    def _keep(self, event: WorkerEvent) -> None:
        self.events.append((time.monotonic(), event))


def measure(name: str, start: StartWorker, seconds: float) -> None:
    bench = Bench(start)
    small = bench.rate({}, seconds)
    big = bench.rate({"big": BIG}, seconds) * BIG.nbytes / 1e6
    noticed, replaced = bench.repair()
    bench.pool.close()
    print(
        f"{name}: {small:.0f} small messages/s, {big:.0f} MB/s in each direction of 8 MB messages; "
        f"killed: noticed after {noticed:.2f} s, replaced after {replaced:.2f} s",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    seconds = parser.parse_args().seconds
    measure("processes", lambda name, *_: ProcessWorker(name, answer, None), seconds)
    cluster = Cluster("local")
    measure("Ray", lambda name, *_: cluster.start(name, answer, None), seconds)
    cluster.close()


if __name__ == "__main__":
    main()
