"""A small run: hands numbered pieces of work to a crew on a cluster, until it is told to finish.

    python cluster_coordinator.py ADDRESS MACHINES SIZE

Begins when the cluster has so many machines, with a crew of that size. Prints a line of JSON for
everything that happens; `at` is the machine's monotonic clock.
"""

import json
import select
import sys
import time
from collections import defaultdict
from dataclasses import asdict
from typing import Any

import worker_functions
from rookery.workers import Cluster, ClusterWorker, Message, RestartPolicy, WorkerEvent, WorkerPool

LIMITS = RestartPolicy(silence_seconds=4.0, start_seconds=5.0, restarts=2, first_pause=0.1)


def say(kind: str, **what: Any) -> None:
    print(json.dumps({"kind": kind, "at": time.monotonic(), **what}), flush=True)


class Coordinator:
    def __init__(self, address: str, machines: int, size: int) -> None:
        self.cluster = Cluster(address)
        while self.cluster.capacity().machines != machines:
            time.sleep(0.1)
        self.todo: list[int] = []
        self.handed_out: dict[int, set[int]] = defaultdict(set)
        self.next_piece = 0
        self.crew = WorkerPool("actor", size, self.start, limits=LIMITS, tell=self.tell)

    def start(self, name: str, number: int, incarnation: int) -> ClusterWorker:
        """A worker; what the one before it has left undone is done by others."""
        self.todo += sorted(self.handed_out.pop(number, ()))
        return self.cluster.start(name, worker_functions.squaring, {})

    def tell(self, event: WorkerEvent) -> None:
        say("event", **asdict(event))

    def attend(self, *, may_begin: bool) -> None:
        for number, message in self.crew.poll():
            say(message.kind, place=number, **message.header)
            self.handed_out[number].discard(message.header.get("piece"))
        for number in self.crew.ready():
            while len(self.handed_out[number]) < 2 and (self.todo or may_begin):
                self.hand_out(number)
        time.sleep(0.01)

    def hand_out(self, number: int) -> None:
        if not self.todo:
            self.todo.append(self.next_piece)
            self.next_piece += 1
        piece = self.todo.pop(0)
        self.handed_out[number].add(piece)
        self.crew.send(number, Message("work", {"piece": piece}))

    def run(self) -> None:
        while not select.select([sys.stdin], [], [], 0)[0]:
            self.attend(may_begin=True)
        while self.todo or any(self.handed_out.values()):
            self.attend(may_begin=False)
        say("finished", pieces=self.next_piece)
        self.crew.close()
        self.cluster.close()
        say("closed")


if __name__ == "__main__":
    Coordinator(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])).run()
