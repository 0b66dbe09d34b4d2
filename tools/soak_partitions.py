"""A run on two hosts, network namespaces of this machine, that are cut off from each other."""

import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from soak_checks import Check, check_rows, check_updates, last_iteration

from cluster_hosts import ADDRESSES, HEAD, NODE, PORT, Hosts, lacks, wait_until

CUT_SECONDS = (1.0, 12.0)
"""Ray reports a machine lost that was cut off for longer than 5 s."""
START_SECONDS = 300.0
PAUSE_SECONDS = 120.0


def partition(
    folder: Path, settings: Sequence[str], number: int, *, seed: int
) -> tuple[str, list[Check]]:
    """Cut two hosts off from each other a number of times while they train one run."""
    if why := lacks() or ("" if find_spec("ray") else "needs Ray"):
        return f"left out ({why})", []
    folder.mkdir(parents=True)
    hosts = Hosts(folder)
    try:
        hosts.build()
        for name in ADDRESSES:
            hosts.start_ray(name)
        return f"{number} cuts", _train_through(hosts, folder / "run", settings, number, seed)
    finally:
        hosts.remove()


def _train_through(
    hosts: Hosts, run: Path, settings: Sequence[str], number: int, seed: int
) -> list[Check]:
    dice = np.random.default_rng(seed)
    given = [*settings, f"run.cluster={ADDRESSES[HEAD]}:{PORT}"]
    words = [word for setting in given for word in ("--set", setting)]
    process = hosts.run(HEAD, "rookery", "train", "tictactoe", "--run", str(run), *words)
    wait_until(lambda: last_iteration(run) or process.poll() is not None, START_SECONDS)
    for _ in range(number):
        hosts.cut()
        time.sleep(dice.uniform(*CUT_SECONDS))
        hosts.join()
        if not hosts.has_ray(NODE):
            hosts.start_ray(NODE)
        goal = last_iteration(run) + 3
        with suppress(AssertionError):
            wait_until(lambda: last_iteration(run) >= goal, PAUSE_SECONDS)  # noqa: B023
    is_going_on = last_iteration(run) >= goal
    process.send_signal(signal.SIGTERM)
    code = process.wait(PAUSE_SECONDS)
    what = f"after {number} partitions the run goes on, and stops with exit code {code}"
    return [Check(what, is_going_on and code == 0), check_rows(run), check_updates(run)]
