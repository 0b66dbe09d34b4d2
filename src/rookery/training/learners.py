"""Who learns in a run: this process, or a team of trainers."""

import os
from collections.abc import Callable, Sequence

import torch
from torch import nn

from rookery.base import ConfigError
from rookery.games import Game
from rookery.gpu import find_devices
from rookery.learning import Learner, LearningConfig, thread_speedup
from rookery.nets import max_parts
from rookery.training.config import Config
from rookery.training.trainers.placement import TrainerPlacement
from rookery.training.trainers.pool import TrainerPool
from rookery.workers import Cluster, WorkerEvent

TRAINER_SPEEDUP = {"distributed": 0.78, "data_parallel": 0.91}
"""Speed of trainers on a CPU core each, as a share of as many alone (docs/benchmarks.md)."""


def new_learner(
    game: Game,
    net: nn.Module,
    *,
    config: Config,
    tell: Callable[[WorkerEvent], None],
    cluster: Cluster | None = None,
) -> Learner | TrainerPool:
    """The learner that `learning.method` asks for, where batches are made on the host."""
    learning = config.learning
    if learning.method == "single":
        return Learner(game, net, config=learning, seed=config.run.seed)
    devices = find_devices(config.run.devices)
    check_trainers(config, devices)
    workers = _count(learning, net, game=game, devices=devices)
    if learning.method == "pipeline":
        workers = min(workers, max_parts(config.net))
    elif learning.scaled(workers).batch_size // learning.accumulate < workers:
        raise ConfigError(
            f"learning.batch_size={learning.batch_size} in learning.accumulate="
            f"{learning.accumulate} parts has no row for each of {workers} trainers; raise it"
        )
    posts = TrainerPlacement(devices, workers, cluster)
    return TrainerPool(game, net, config=config, posts=posts, tell=tell)


def check_trainers(config: Config, devices: Sequence[torch.device]) -> None:
    """Refuse trainers for whom a net that is cut has no part, or who have no GPU to hold it."""
    learning, most = config.learning, max_parts(config.net)
    if learning.method == "pipeline" and config.net.kind != "resnet":
        raise ConfigError(f"learning.method=pipeline cannot cut a {config.net.kind} net")
    if learning.method != "pipeline" or learning.workers == "auto":
        return
    asked = f"learning.workers is {learning.workers}, expected at most"
    if int(learning.workers) > most:
        raise ConfigError(
            f"{asked} {most}: learning.method=pipeline cuts a net of net.depth={config.net.depth} "
            "into no more parts; use fewer or raise net.depth"
        )
    if devices[0].type == "cuda" and int(learning.workers) > len(devices):
        raise ConfigError(
            f"{asked} {len(devices)}: learning.method=pipeline needs a GPU for each; use fewer or "
            "name more in run.devices"
        )


def _count(
    learning: LearningConfig,
    net: nn.Module,
    *,
    game: Game,
    devices: tuple[torch.device, ...],
) -> int:
    """Trainers: as many as are asked for; else one a GPU, or one a core where that is faster.

    A net is cut for the devices' memory: on the CPU there is nothing to gain by it.
    """
    if learning.workers != "auto":
        return int(learning.workers)
    if devices[0].type == "cuda":
        return len(devices)
    if learning.method == "pipeline":
        return 1
    cores = os.cpu_count() or 1
    gain = thread_speedup(net, game.planes_shape, rows=learning.batch_size)
    return cores if gain < TRAINER_SPEEDUP[learning.method] * cores else 1
