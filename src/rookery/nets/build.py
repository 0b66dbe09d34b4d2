"""The settings of a net, and the one place where a net is made from them."""

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rookery.base import ConfigError, UnknownName, generator
from rookery.nets.resnet import ResNet

PlanesShape = tuple[int, int, int]


@dataclass(frozen=True)
class NetConfig:
    """The shape of a net. The game adds the planes and the actions."""

    kind: str = "resnet"
    """Family of the net, a name in `BUILDERS`."""
    width: int = 32
    """Channels of the tower."""
    depth: int = 3
    """Residual blocks in the tower; 0 leaves the stem alone."""
    policy_channels: int = 4
    """Channels the policy head reads; its last layer has channels x cells x actions weights."""
    value_width: int = 32
    """Units in the hidden layer of the value head."""

    def __post_init__(self) -> None:
        if self.kind not in BUILDERS:
            raise UnknownName("net.kind", self.kind, BUILDERS)
        for field in fields(self):
            value, least = getattr(self, field.name), 0 if field.name == "depth" else 1
            if field.name != "kind" and (type(value) is not int or value < least):
                raise ConfigError(
                    f"net.{field.name} is {value!r}, expected a whole number from {least} up"
                )


def build_resnet(
    config: NetConfig, planes_shape: PlanesShape, num_actions: int, policy_cells: Tensor | None
) -> nn.Module:
    """A residual tower with random weights."""
    return ResNet(
        planes_shape,
        num_actions,
        width=config.width,
        depth=config.depth,
        policy_channels=config.policy_channels,
        value_width=config.value_width,
        policy_cells=policy_cells,
    )


Builder = Callable[[NetConfig, PlanesShape, int, Tensor | None], nn.Module]
BUILDERS: dict[str, Builder] = {"resnet": build_resnet}


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
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(int(generator(seed, "net").integers(2**63)))
        cells = None if policy_cells is None else torch.as_tensor(policy_cells)
        return BUILDERS[config.kind](config, planes_shape, num_actions, cells)


def count_parameters(net: nn.Module) -> int:
    """How many numbers training adjusts."""
    return sum(parameter.numel() for parameter in net.parameters() if parameter.requires_grad)
