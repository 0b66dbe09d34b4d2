"""How many trainers learn together."""

import torch
from torch import nn

from rookery.base import ConfigError, available_cores
from rookery.games import Game
from rookery.learning import thread_speedup
from rookery.nets import max_parts
from rookery.training.config import Config

TRAINER_SPEEDUP = {"distributed": 0.78, "data_parallel": 0.91}
"""Speed of one trainer per CPU core, relative to as many single learners (docs/benchmarks.md)."""


def check_trainers(config: Config) -> None:
    """Refuse more trainers than a pipeline can have parts."""
    learning, most = config.learning, max_parts(config.net)
    if learning.method != "pipeline" or learning.workers == "auto":
        return
    if int(learning.workers) > most:
        raise ConfigError(
            f"learning.workers is {learning.workers}, expected at most {most}: "
            f"learning.method=pipeline splits a network of net.depth={config.net.depth} into no "
            "more parts; use fewer or raise net.depth"
        )


def count_trainers(
    config: Config, net: nn.Module, *, game: Game, devices: tuple[torch.device, ...]
) -> int:
    """Return how many trainers to start; refuse a batch that has no row for each."""
    learning = config.learning
    workers = _wanted(config, net, game=game, devices=devices)
    if learning.method == "pipeline":
        return min(workers, max_parts(config.net))
    if learning.scaled(workers).batch_size // learning.accumulate < workers:
        raise ConfigError(
            f"learning.batch_size={learning.batch_size} in learning.accumulate="
            f"{learning.accumulate} parts has no row for each of {workers} trainers; raise it"
        )
    return workers


def _wanted(
    config: Config, net: nn.Module, *, game: Game, devices: tuple[torch.device, ...]
) -> int:
    """Return the number that was asked for; else one per GPU, or one per core if that is faster.

    A pipeline splits a network to save memory: on the CPU it gains nothing.
    """
    learning = config.learning
    if learning.workers != "auto":
        return int(learning.workers)
    if devices[0].type == "cuda":
        return len(devices)
    if learning.method == "pipeline":
        return 1
    cores = available_cores()
    speedup = thread_speedup(net, game.planes_shape, rows=learning.batch_size)
    return cores if speedup < TRAINER_SPEEDUP[learning.method] * cores else 1
