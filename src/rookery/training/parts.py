"""The parts of a run that depend on its device. The one place where CPU or GPU is chosen."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from rookery.games import Game
from rookery.gpu import data_device, find_devices, use_device
from rookery.learning import EnsembleLearner, GpuLearner, LearningConfig
from rookery.learning import Learner as CpuLearner
from rookery.nets import (
    CPU_BACKENDS,
    GPU_BACKENDS,
    MPS_BACKENDS,
    CpuEvaluator,
    Ensemble,
    GpuEvaluator,
    fastest_backend,
)
from rookery.replay import ReplayConfig, Window
from rookery.training.config import Config
from rookery.training.self_players import CpuSelfPlayer, GpuSelfPlayer, SelfPlayer

COMPILE_AFTER_MINUTES = 5.0
COMPILE_SECONDS = 30.0
"""Runs longer than this may spend so long on compiling the network's forward pass."""


def is_gpu(device: torch.device) -> bool:
    """Return whether the parts of a run on `device` are those for an NVIDIA GPU."""
    return device.type == "cuda"


def learning_devices(devices: str) -> tuple[torch.device, ...]:
    """Return the devices that learn."""
    return tuple(map(data_device, find_devices(devices)))


def backends_on(device: torch.device) -> tuple[str, ...]:
    """Return the ways to evaluate a network on `device`."""
    if device.type == "mps":
        return tuple(MPS_BACKENDS)
    return tuple(GPU_BACKENDS) if is_gpu(device) else CPU_BACKENDS


def fallback_notes(evaluator: Any) -> list[str]:
    """Return why a GPU does not evaluate a network in the fastest way, if so."""
    if not isinstance(evaluator, GpuEvaluator):
        return []
    dropped = evaluator.choice.dropped.items()
    chosen = evaluator.choice.backend
    return [f"the network is evaluated by {chosen}: {backend} {why}" for backend, why in dropped]


def new_evaluator(
    game: Game, config: Config, net: nn.Module, *, device: torch.device, backend: str
) -> CpuEvaluator | GpuEvaluator:
    """Return an evaluator of `net` on `device`."""
    use_device(device)
    if is_gpu(device):
        if backend == "fastest":
            backend = fastest_backend(config.net, device)
        return GpuEvaluator(net, game.planes_shape, device=device, backend=backend)
    may_compile = config.run.minutes > COMPILE_AFTER_MINUTES
    return CpuEvaluator(
        net,
        game.planes_shape,
        backend=backend,
        batch_size=config.selfplay.games,
        compile_seconds=COMPILE_SECONDS if may_compile else 0.0,
        device=device,
    )


def new_self_player(
    game: Game, config: Config, net: nn.Module, *, device: torch.device, backend: str, seed: int
) -> SelfPlayer:
    """Return a self-player on `device`."""
    evaluator = new_evaluator(game, config, net, device=device, backend=backend)
    return self_player_with(evaluator, game, config, seed=seed)


def self_player_with(
    evaluator: CpuEvaluator | GpuEvaluator, game: Game, config: Config, *, seed: int
) -> SelfPlayer:
    """Return a self-player on the device of its evaluator."""
    if isinstance(evaluator, GpuEvaluator):
        return GpuSelfPlayer(game, config, evaluator, seed=seed)
    return CpuSelfPlayer(game, config, evaluator, seed=seed)


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
) -> CpuLearner | GpuLearner | EnsembleLearner:
    """Return a learner in this process; `on_smaller_parts` is that of `GpuLearner`."""
    if isinstance(net, Ensemble):
        members: list[CpuLearner | GpuLearner] = []
        for number, member in enumerate(net.members):
            own = _one_learner(
                game, member, config, device=device, seed=seed + number, tell=on_smaller_parts
            )
            config = replace(config, precision=own.precision)
            members.append(own)
        return EnsembleLearner(members)
    return _one_learner(game, net, config, device=device, seed=seed, tell=on_smaller_parts)


def _one_learner(
    game: Game,
    net: nn.Module,
    config: LearningConfig,
    *,
    device: torch.device,
    seed: int,
    tell: Callable[[LearningConfig], None],
) -> CpuLearner | GpuLearner:
    net = net.to(device)
    if not is_gpu(device):
        return CpuLearner(game, net, config=config, seed=seed)
    return GpuLearner(game, net, config=config, seed=seed, on_smaller_parts=tell)
