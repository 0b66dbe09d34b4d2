"""The settings of a net, and the one place where a net is made from them."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rookery.base import ConfigError, UnknownName, generator
from rookery.nets.lif import SURROGATES, Firing
from rookery.nets.resnet import ResNet, Sizes
from rookery.nets.spiking import SpikingNet

PlanesShape = tuple[int, int, int]
LEAST = {"width": 1, "depth": 0, "policy_channels": 1, "value_width": 1, "steps": 1}
"""Whole numbers, and what they may be from."""


@dataclass(frozen=True)
class NetConfig:
    """The shape of a net. The game adds the planes and the actions."""

    kind: str = "resnet"
    """Family of the net: resnet, or spiking (docs/spiking.md)."""
    width: int = 32
    """Channels of the tower."""
    depth: int = 3
    """Residual blocks in the tower; 0 leaves the stem alone."""
    policy_channels: int = 4
    """Channels the policy head reads; its last layer has channels x cells x actions weights."""
    value_width: int = 32
    """Units in the hidden layer of the value head."""
    steps: int = 4
    """spiking: steps that a board is looked at; time and memory grow with them."""
    decay: float = 0.5
    """spiking: share of a neuron's membrane that is left a step later, from 0 to 1."""
    threshold: float = 1.0
    """spiking: membrane above which a neuron fires; currents have a spread of about 1."""
    surrogate: str = "arctan"
    """spiking: whose slope stands for that of a spike in gradients: arctan or fast_sigmoid."""

    def __post_init__(self) -> None:
        if self.kind not in BUILDERS:
            raise UnknownName("net.kind", self.kind, BUILDERS)
        if self.surrogate not in SURROGATES:
            raise UnknownName("net.surrogate", self.surrogate, SURROGATES)
        for name, least in LEAST.items():
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise ConfigError(
                    f"net.{name} is {value!r}, expected a whole number from {least} up"
                )
        if not 0 <= self.decay <= 1:
            raise ConfigError(f"net.decay is {self.decay}, expected a number from 0 to 1")
        if not 0 < self.threshold < inf:
            raise ConfigError(f"net.threshold is {self.threshold}, expected a number above 0")

    def __str__(self) -> str:
        """Kind and size, as people say it."""
        steps = f", {self.steps} steps" if self.kind == "spiking" else ""
        return f"{self.kind} {self.width} x {self.depth}{steps}"


def build_resnet(config: NetConfig, sizes: Sizes) -> nn.Module:
    """A residual tower with random weights."""
    return ResNet(sizes)


def build_spiking(config: NetConfig, sizes: Sizes) -> nn.Module:
    """A spiking tower with random weights."""
    firing = Firing(config.steps, config.decay, config.threshold, config.surrogate)
    return SpikingNet(sizes, firing)


BUILDERS: dict[str, Callable[[NetConfig, Sizes], nn.Module]] = {
    "resnet": build_resnet,
    "spiking": build_spiking,
}


def build_net(
    config: NetConfig,
    planes_shape: PlanesShape,
    num_actions: int,
    *,
    policy_cells: NDArray[np.int64] | Tensor | None = None,
    seed: int = 0,
) -> nn.Module:
    """A fresh net for boards of `planes_shape`; equal seeds give equal weights.

    It maps planes float32 [B, P, H, W] to policy logits [B, A] and win, draw, loss logits [B, 3].
    `policy_cells` [A] is where it draws each action on the board, if the game says so.
    """
    sizes = Sizes(
        planes_shape,
        num_actions,
        width=config.width,
        depth=config.depth,
        policy_channels=config.policy_channels,
        value_width=config.value_width,
        policy_cells=None if policy_cells is None else torch.as_tensor(policy_cells),
    )
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(int(generator(seed, "net").integers(2**63)))
        return BUILDERS[config.kind](config, sizes)


def count_parameters(net: nn.Module) -> int:
    """How many numbers training adjusts."""
    return sum(parameter.numel() for parameter in net.parameters() if parameter.requires_grad)
