"""Trainers that are killed, stopped and replaced all the time, compared with a single learner.

    python benchmarks/trainer_faults.py [--faults 200] [--trainers 3] [--seed 1]

A pool of trainers learns random Connect Four rows with a small network while faults are injected at
random, by a seed: SIGKILL, SIGSTOP and exceptions; each is followed by a replacement. Prints the
faults, whether every update was made once, and the distance from a learner without faults.
"""

import argparse
import signal
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from apart import apart
from faulty_trainers import CONFIG, UnreliablePool, new_pool, window
from rank_processes import learn_alone
from worker_processes import worker_processes


def strike(dice: np.random.Generator, trainers: int) -> str:
    """Kill or stop a trainer, if at least one other one runs; return what was done."""
    found = worker_processes()
    if len(found) < min(2, trainers):
        return ""
    victim = found[int(dice.integers(len(found)))]
    if dice.random() < 0.3:
        victim.send_signal(signal.SIGSTOP)
        return "stopped"
    victim.kill()
    return "killed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--trainers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    dice, rows, begin = np.random.default_rng(options.seed), window(), time.perf_counter()
    config = replace(CONFIG, silence_seconds=2.0, checkpoint_every=10)
    pool, events = new_pool(options.trainers, config, UnreliablePool)
    struck: Counter[str] = Counter()
    longest = 0.0
    try:
        while len(events) < options.faults:
            if done := strike(dice, options.trainers):
                struck[done] += 1
            at = time.perf_counter()
            pool.learn(rows, 1, progress=0.2)
            longest = max(longest, time.perf_counter() - at)
            pool.learn(rows, int(dice.integers(1, 6)), progress=0.2)
        state = pool.state()
    finally:
        pool.close()
    thrown = sum("on purpose" in event.what for event in events)
    undisturbed = learn_alone(CONFIG, pool.updates)
    print(f"{len(events)} faults: {dict(struck)}, {thrown} thrown")
    print(
        f"{pool.updates} updates in {time.perf_counter() - begin:.0f} s, counted {state['updates']}"
    )
    print(f"longest wait for an update {longest:.1f} s")
    print(
        f"distance from an undisturbed learner {apart(undisturbed.state(), state):.4f} of its way"
    )


if __name__ == "__main__":
    main()
