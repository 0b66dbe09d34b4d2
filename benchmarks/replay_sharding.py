"""Memory of the replay window in trainers: all rows in each of them, or one part in each.

    python benchmarks/replay_sharding.py [--rows 500000] [--trainers 1,2,3]

Prints the rows that the trainers hold together, and the memory that these take: the private memory
of all trainers, less that of as many trainers with a thousand rows.
"""

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import torch
from numpy.typing import NDArray

from rookery.games import load_game
from rookery.learning import LearningConfig
from rookery.nets import NetConfig, build_net
from rookery.replay import ReplayConfig, Rows, Window, count, shard_path, write_shard
from rookery.replay.rows import select
from rookery.search import SearchConfig
from rookery.selfplay import CpuSelfPlay, SelfPlayConfig
from rookery.training import Config
from rookery.training.trainers.placement import TrainerPlacement
from rookery.training.trainers.pool import TrainerPool

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from worker_processes import worker_processes

GAME = load_game("connect4")
FEW = 1_000


def some_rows() -> Rows:
    """Return rows of games with random moves."""

    def equal_moves(
        planes: NDArray[np.float32],
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return np.zeros((len(planes), 7), np.float32), np.full((len(planes), 3), 1 / 3, np.float32)

    config = SelfPlayConfig(games=256, simulations="2")
    selfplay = CpuSelfPlay(GAME, equal_moves, config=config, search=SearchConfig(), seed=1)
    return selfplay.play(60, progress=0.0, iteration=0).rows


def new_window(some: Rows, rows: int, replay: ReplayConfig, folder: Path) -> Window:
    """Return a window of copies of `some`, and write its shards."""
    window = Window(GAME, replay)
    while len(window) < rows:
        new = select(some, slice(0, min(count(some), rows - len(window))))
        write_shard(shard_path(folder, window.add(new)), new, game=GAME)
    return window


def measure(some: Rows, rows: int, *, trainers: int, sharding: str) -> tuple[int, float]:
    """Return the rows that all trainers hold, and their private memory in megabytes."""
    replay = ReplayConfig(window_min=rows, window_max=rows, sharding=sharding)
    learning = LearningConfig(method="distributed", batch_size=256, precision="float32")
    shape = NetConfig(width=8, depth=1)
    config = Config("connect4", "benchmark", net=shape, learning=learning, replay=replay)
    net = build_net(shape, GAME.planes_shape, GAME.num_actions, seed=1)
    with tempfile.TemporaryDirectory() as place:
        window = new_window(some, rows, replay, Path(place))
        pool = TrainerPool(
            GAME,
            net,
            config=config,
            placement=TrainerPlacement((torch.device("cpu"),), trainers, threads=1),
            on_event=print,
            shard_path=partial(shard_path, Path(place)),
        )
        try:
            report = pool.learn(window, 1, progress=0.0)
            while len(report.worked) < trainers:
                report = pool.learn(window, 1, progress=0.0)
            memory = [psutil.Process(p.pid).memory_full_info().uss for p in worker_processes()]
            assert report.total is not None
            return report.total.rows_held, sum(memory) / 1e6
        finally:
            pool.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--trainers", default="1,2,3")
    options = parser.parse_args()
    some = some_rows()
    for trainers in map(int, options.trainers.split(",")):
        _, without = measure(some, FEW, trainers=trainers, sharding="full")
        for sharding in ("full", "split"):
            held, memory = measure(some, options.rows, trainers=trainers, sharding=sharding)
            print(
                f"{trainers} trainers, {sharding}: {held:,} rows held, "
                f"{memory - without:.0f} MB for them",
                flush=True,
            )


if __name__ == "__main__":
    main()
