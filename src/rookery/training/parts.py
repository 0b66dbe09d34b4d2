"""The parts of a run that depend on its device. The one place where CPU or GPU is chosen."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from rookery.games import Game
from rookery.gpu import use_device
from rookery.learning import GpuLearner, LearningConfig
from rookery.learning import Learner as CpuLearner
from rookery.nets import CPU_BACKENDS, GPU_BACKENDS, CpuEvaluator, GpuEvaluator
from rookery.replay import ReplayConfig, Window
from rookery.training.config import Config
from rookery.training.self_players import CpuSelfPlayer, GpuSelfPlayer, SelfPlayer

COMPILE_AFTER_MINUTES = 5.0
COMPILE_SECONDS = 30.0
"""Runs longer than this may spend so long on compiling the network's forward pass."""


@dataclass(frozen=True)
class DeviceParts:
    """What runs on one type of device."""

    backends: tuple[str, ...]
    """Ways to evaluate a network."""
    evaluator: Callable[..., Any]
    self_player: Callable[..., SelfPlayer]
    learner: Callable[..., Any]


def _cpu_evaluator(
    net: nn.Module, game: Game, device: torch.device, *, backend: str, config: Config
) -> CpuEvaluator:
    may_compile = config.run.minutes > COMPILE_AFTER_MINUTES
    return CpuEvaluator(
        net,
        game.planes_shape,
        backend=backend,
        batch_size=config.selfplay.games,
        compile_seconds=COMPILE_SECONDS if may_compile else 0.0,
    )


def _gpu_evaluator(
    net: nn.Module, game: Game, device: torch.device, *, backend: str, config: Config
) -> GpuEvaluator:
    return GpuEvaluator(net, game.planes_shape, device=device, backend=backend)


def _cpu_learner(
    game: Game,
    net: nn.Module,
    *,
    config: LearningConfig,
    seed: int,
    on_smaller_parts: Callable[[LearningConfig], None],
) -> CpuLearner:
    return CpuLearner(game, net, config=config, seed=seed)


PARTS = {
    "cpu": DeviceParts(CPU_BACKENDS, _cpu_evaluator, CpuSelfPlayer, _cpu_learner),
    "cuda": DeviceParts(tuple(GPU_BACKENDS), _gpu_evaluator, GpuSelfPlayer, GpuLearner),
}


def backends_on(device: torch.device) -> tuple[str, ...]:
    """Return the ways to evaluate a network on `device`."""
    return PARTS[device.type].backends


def fallback_notes(evaluator: Any) -> list[str]:
    """Return why a GPU does not evaluate a network in the fastest way, if so."""
    if evaluator.choice.backend not in GPU_BACKENDS:
        return []
    dropped = evaluator.choice.dropped.items()
    chosen = evaluator.choice.backend
    return [f"the network is evaluated by {chosen}: {backend} {why}" for backend, why in dropped]


def new_evaluator(
    game: Game, config: Config, net: nn.Module, *, device: torch.device, backend: str
) -> Any:
    """Return an evaluator of `net` on `device`."""
    use_device(device)
    return PARTS[device.type].evaluator(net, game, device, backend=backend, config=config)


def new_self_player(
    game: Game, config: Config, net: nn.Module, *, device: torch.device, backend: str, seed: int
) -> SelfPlayer:
    """Return a self-player on `device`."""
    evaluator = new_evaluator(game, config, net, device=device, backend=backend)
    return PARTS[device.type].self_player(game, config, evaluator, seed=seed)


def new_window(game: Game, config: ReplayConfig, device: torch.device) -> Window:
    """Return an empty window on the learner's device."""
    use_device(device)
    return Window(game, config, device)


def new_learner(
    game: Game,
    net: nn.Module,
    config: LearningConfig,
    *,
    device: torch.device,
    seed: int,
    on_smaller_parts: Callable[[LearningConfig], None],
) -> CpuLearner | GpuLearner:
    """Return a learner in this process, on `device`.

    `on_smaller_parts` is called with the new settings when a batch does not fit into memory and
    has to be computed in more parts.
    """
    learner: CpuLearner | GpuLearner = PARTS[device.type].learner(
        game, net.to(device), config=config, seed=seed, on_smaller_parts=on_smaller_parts
    )
    return learner
