"""A small run: a pool on a cluster squares numbers until a line arrives on the standard input.

    python cluster_coordinator.py ADDRESS MACHINES SIZE

Starts when the cluster has MACHINES machines, with a pool of SIZE workers. Prints one line of JSON
for every message and event; `at` is the machine's monotonic clock.
"""

import json
import select
import sys
import time
from collections import defaultdict
from dataclasses import asdict
from typing import Any

from rookery.workers import Cluster, ClusterWorker, RestartPolicy, WorkerEvent, WorkerPool
from worker_functions import Squared, SquareNumber, square

POLICY = RestartPolicy(silence_seconds=4.0, start_seconds=5.0, failures=2, first_pause=0.1)


def say(kind: str, **what: Any) -> None:
    print(json.dumps({"kind": kind, "at": time.monotonic(), **what}), flush=True)


class Coordinator:
    def __init__(self, address: str, machines: int, size: int) -> None:
        self.cluster = Cluster(address)
        while self.cluster.capacity().machines != machines:
            time.sleep(0.1)
        self.waiting: list[int] = []
        self.assigned: dict[int, set[int]] = defaultdict(set)
        self.next_number = 0
        self.pool = WorkerPool("actor", size, self.start, policy=POLICY, on_event=self.on_event)

    def start(self, name: str, worker: int, start: int) -> ClusterWorker:
        """Start a worker; the numbers of the one before go to others."""
        self.waiting += sorted(self.assigned.pop(worker, ()))
        return self.cluster.start(name, square, start)

    def on_event(self, event: WorkerEvent) -> None:
        say("event", **asdict(event))

    def attend(self, *, may_begin: bool) -> None:
        for worker, message in self.pool.poll():
            say(type(message).__name__, worker=worker, **asdict(message))
            if isinstance(message, Squared):
                self.assigned[worker].discard(message.number)
        for worker in self.pool.ready():
            while len(self.assigned[worker]) < 2 and (self.waiting or may_begin):
                self.assign(worker)
        time.sleep(0.01)

    def assign(self, worker: int) -> None:
        if not self.waiting:
            self.waiting.append(self.next_number)
            self.next_number += 1
        number = self.waiting.pop(0)
        self.assigned[worker].add(number)
        self.pool.send(worker, SquareNumber(number))

    def run(self) -> None:
        while not select.select([sys.stdin], [], [], 0)[0]:
            self.attend(may_begin=True)
        while self.waiting or any(self.assigned.values()):
            self.attend(may_begin=False)
        say("finished", count=self.next_number)
        self.pool.close()
        self.cluster.close()
        say("closed")


if __name__ == "__main__":
    Coordinator(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])).run()
