"""Memory: the largest size of a Connect Four run, and what a million positions of replay take.

    python benchmarks/memory.py [--minutes 3]

The million rows are real games, copied. A run that fills its window of a million holds them twice
for a moment: add that to the size of a short one.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MILLION = 1_000_000


def peak_megabytes(minutes: float) -> float:
    """Largest resident size of a run of the recipe, as the kernel counted it."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "rookery", "train", "connect4", "--run", f"{place}/run"]
        process = subprocess.Popen([*command, "--minutes", str(minutes)], stdout=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_maxrss / 1024


def replay_megabytes() -> tuple[float, float]:
    """A million rows in memory and on disk."""
    import numpy as np

    from rookery.games import load_game
    from rookery.replay import Samples, write_shard
    from rookery.search import SearchConfig
    from rookery.selfplay import SelfPlay, SelfPlayConfig

    rules = load_game("connect4")

    def know_nothing(planes: "np.ndarray") -> tuple["np.ndarray", "np.ndarray"]:
        return np.zeros((len(planes), 7), np.float32), np.full((len(planes), 3), 1 / 3, np.float32)

    config = SelfPlayConfig(games=256, simulations="2")
    selfplay = SelfPlay(rules, know_nothing, config=config, search=SearchConfig(), seed=1)
    some = Samples.from_records(selfplay.play(60, progress=0.0)[0], 0)
    copies = MILLION // len(some) + 1
    rows = Samples.concatenate([some] * copies).between(0, MILLION)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "million.shard"
        write_shard(path, rows, game=rules)
        return rows.nbytes / 1e6, path.stat().st_size / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=3.0)
    options = parser.parse_args()
    memory, disk = replay_megabytes()
    peak = peak_megabytes(options.minutes)
    print(
        f"connect4: run of {options.minutes:g} minutes peaks at {peak:.0f} MB; "
        f"a million positions take {memory:.0f} MB in memory, {disk:.0f} MB on disk"
    )


if __name__ == "__main__":
    main()
