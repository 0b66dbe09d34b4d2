"""Who learns in a run: this process, or a team of trainers."""

import os
from collections.abc import Callable

import torch
from torch import nn

from rookery.games import Game
from rookery.learning import Learner, LearningConfig, gain_of_threads
from rookery.run.config import Config
from rookery.run.posts import Posts
from rookery.run.team import Team
from rookery.runtime import Cluster, Event, find_devices

GAIN_OF_TRAINERS = {"distributed": 0.78, "data_parallel": 0.91}
"""Speed of trainers on a CPU core each, as a share of as many alone (docs/benchmarks.md)."""


def new_learner(
    game: Game,
    net: nn.Module,
    *,
    config: Config,
    tell: Callable[[Event], None],
    cluster: Cluster | None = None,
) -> Learner | Team:
    """The learner that `learning.method` asks for, where batches are made on the host."""
    learning = config.learning
    if learning.method == "single":
        return Learner(game, net, config=learning, seed=config.run.seed)
    devices = find_devices(config.run.devices)
    workers = _count(learning, net, game=game, devices=devices)
    posts = Posts(devices, workers, cluster)
    return Team(game, net, config=config, posts=posts, tell=tell)


def _count(
    learning: LearningConfig,
    net: nn.Module,
    *,
    game: Game,
    devices: tuple[torch.device, ...],
) -> int:
    """Trainers: as many as are asked for; else one a GPU, or one a core where that is faster."""
    if learning.workers != "auto":
        return int(learning.workers)
    if devices[0].type == "cuda":
        return len(devices)
    cores = os.cpu_count() or 1
    gain = gain_of_threads(net, game.planes_shape, rows=learning.batch_size)
    return cores if gain < GAIN_OF_TRAINERS[learning.method] * cores else 1
