"""Two trainers on the machines of a cluster that learn until a line arrives on the standard input.

    python trainer_coordinator.py ADDRESS MACHINES

Starts when the cluster has MACHINES machines. Prints one line of JSON for every update and event,
and at the end how far the result is from that of a single learner.
"""

import json
import select
import sys
import time
from typing import Any

from apart import apart
from faulty_trainers import IMPATIENT, new_pool, window
from rank_processes import learn_alone
from rookery.workers import Cluster

PAUSE_SECONDS = 0.5
"""Between two updates: rounding errors grow with their number."""


def say(kind: str, **what: Any) -> None:
    print(json.dumps({"kind": kind, "at": time.monotonic(), **what}), flush=True)


def main(address: str, machines: int) -> None:
    cluster = Cluster(address)
    while cluster.capacity().machines != machines:
        time.sleep(0.1)
    pool, events = new_pool(2, IMPATIENT, cluster=cluster)
    rows, told = window(), 0
    while not select.select([sys.stdin], [], [], PAUSE_SECONDS)[0]:
        report = pool.learn(rows, 1, progress=0.2)
        for event in events[told:]:
            say("event", what=str(event))
        told = len(events)
        say("learned", updates=pool.updates, ranks=[rank.name for rank in report.worked])
    state, alone = pool.state(), learn_alone(IMPATIENT, pool.updates).state()
    say("finished", updates=int(state["updates"].item()), apart=apart(alone, state))
    pool.close()
    cluster.close()
    say("closed")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
