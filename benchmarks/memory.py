"""Memory: the peak of a Connect Four run, and what a million positions of replay take.

    python benchmarks/memory.py [--minutes 3]

The million rows are real games, copied.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MILLION = 1_000_000


def peak_megabytes(minutes: float) -> float:
    """Return the largest resident size of a run of the recipe, as the kernel counted it."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "rookery", "train", "connect4", "--run", f"{place}/run"]
        process = subprocess.Popen([*command, "--minutes", str(minutes)], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"the run failed with status {status}")
    return usage.ru_maxrss / 1024


def replay_megabytes() -> tuple[float, float]:
    """Return the size of a million rows in memory and on disk."""
    import numpy as np

    from rookery.games import load_game
    from rookery.replay import ReplayConfig, Window, write_shard
    from rookery.search import SearchConfig
    from rookery.selfplay import CpuSelfPlay, SelfPlayConfig

    def equal_moves(
        planes: "NDArray[np.float32]",
    ) -> tuple["NDArray[np.float32]", "NDArray[np.float32]"]:
        return np.zeros((len(planes), 7), np.float32), np.full((len(planes), 3), 1 / 3, np.float32)

    game, config = load_game("connect4"), SelfPlayConfig(games=256, simulations="2")
    selfplay = CpuSelfPlay(game, equal_moves, config=config, search=SearchConfig(), seed=1)
    some = selfplay.play(60, progress=0.0, iteration=0).rows
    window = Window(game, ReplayConfig(window_min=MILLION, window_max=MILLION))
    while len(window) < MILLION:
        window.add(some)
    rows = window.newest(MILLION)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "million.safetensors"
        write_shard(path, rows, game=game)
        return sum(column.nbytes for column in rows) / 1e6, path.stat().st_size / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=3.0)
    options = parser.parse_args()
    peak = peak_megabytes(options.minutes)  # first: a new process counts its parent's size
    memory, disk = replay_megabytes()
    print(
        f"connect4: run of {options.minutes:g} minutes peaks at {peak:.0f} MB; "
        f"a million positions take {memory:.0f} MB in memory, {disk:.0f} MB on disk"
    )


if __name__ == "__main__":
    main()
