"""Networks: their settings, building one from them, and ensembles of several."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rookery.base import ConfigError, Ranges, Registry, UnknownName, check_ranges, generator
from rookery.nets.lif import SURROGATES, Firing
from rookery.nets.resnet import Outputs, ResNet, Sizes
from rookery.nets.spiking import SpikingNet

PlanesShape = tuple[int, int, int]
OWN_NETS: Registry[Callable[[Sizes], nn.Module]] = Registry("net.kind", ("resnet", "spiking"))
"""Networks of users, which map planes [B, P, H, W] to logits [B, A] and [B, 3]."""
register_net = OWN_NETS.register
MAX_TOWER = 2**31
"""Weights of the tower that may be asked for: width and depth are limited together."""


@dataclass(frozen=True)
class NetConfig:
    """The kind and size of a network. Planes and actions come from the game."""

    RANGES: ClassVar[Ranges] = {
        "width": (1, 4096),
        "depth": (0, 1000),
        "policy_channels": (1, 1024),
        "value_width": (1, 16384),
        "members": (1, 64),
        "steps": (1, 1000),
        "decay": (0, 1),
        "threshold": (1e-6, 10**6),
    }

    kind: str = "resnet"
    """Kind of network: resnet, spiking (docs/spiking.md), or one of your own
    (docs/own-parts.md)."""
    width: int = 32
    """Channels of the tower."""
    depth: int = 3
    """Residual blocks in the tower; 0 means the stem alone."""
    policy_channels: int = 4
    """Channels of the policy head; its last layer has channels x cells x actions weights."""
    value_width: int = 32
    """Units in the hidden layer of the value head."""
    members: int = 1
    """Networks of this kind and size whose evaluations are averaged (`rookery train --ensemble`);
    time and memory grow with it."""
    steps: int = 4
    """spiking: time steps per evaluation; time and memory grow with it."""
    decay: float = 0.5
    """spiking: share of a neuron's membrane that remains after one step, from 0 to 1."""
    threshold: float = 1.0
    """spiking: a neuron fires above this; currents have a standard deviation of about 1."""
    surrogate: str = "arctan"
    """spiking: function whose derivative replaces that of a spike: arctan or fast_sigmoid."""

    def __post_init__(self) -> None:
        OWN_NETS.check(self.kind)
        if self.surrogate not in SURROGATES:
            raise UnknownName("net.surrogate", self.surrogate, SURROGATES)
        check_ranges("net", self, self.RANGES)
        size = 18 * self.width**2 * self.depth * self.members  # two 3 x 3 layers per block
        if size > MAX_TOWER:
            several = f" and net.members={self.members}" if self.members > 1 else ""
            raise ConfigError(
                f"a tower of net.width={self.width} and net.depth={self.depth}{several} has "
                f"{size:,} weights, expected at most {MAX_TOWER:,}; make one of them smaller"
            )

    def __str__(self) -> str:
        """Return kind and size, such as "resnet 32 x 3"."""
        steps = f", {self.steps} steps" if self.kind == "spiking" else ""
        members = f", {self.members} members" if self.members > 1 else ""
        return f"{self.kind} {self.width} x {self.depth}{steps}{members}"


def build_net(
    config: NetConfig,
    planes_shape: PlanesShape,
    num_actions: int,
    *,
    policy_cells: NDArray[np.int64] | Tensor | None = None,
    seed: int = 0,
) -> nn.Module:
    """Return a new network for boards of `planes_shape`; equal seeds give equal weights.

    It maps planes float32 [B, P, H, W] to policy logits [B, A] and win, draw, loss logits [B, 3].
    `policy_cells` [A], if the game has them, are the cells of the actions in policy planes.
    """
    cells = policy_cells
    if isinstance(cells, np.ndarray):
        cells = torch.from_numpy(cells)
    sizes = Sizes(
        planes_shape,
        num_actions,
        width=config.width,
        depth=config.depth,
        policy_channels=config.policy_channels,
        value_width=config.value_width,
        policy_cells=cells,
    )
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(int(generator(seed, "net").integers(2**63)))
        nets = [_build_one(config, sizes) for _ in range(config.members)]
    return nets[0] if len(nets) == 1 else Ensemble(nets)


def _build_one(config: NetConfig, sizes: Sizes) -> nn.Module:
    if config.kind == "resnet":
        return ResNet(sizes)
    if config.kind == "spiking":
        firing = Firing(config.steps, config.decay, config.threshold, config.surrogate)
        return SpikingNet(sizes, firing)
    return OWN_NETS.find(config.kind)(sizes)


def count_parameters(net: nn.Module) -> int:
    """Return the number of trainable parameters."""
    return sum(parameter.numel() for parameter in net.parameters() if parameter.requires_grad)


class Ensemble(nn.Module):
    """Networks for the same planes and actions; their mean, as the logits of one network."""

    def __init__(self, members: Iterable[nn.Module]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)

    def forward(self, planes: Tensor) -> Outputs:
        return average([member(planes) for member in self.members])


def average(outputs: Sequence[Outputs]) -> Outputs:
    """Return the mean of policy logits [B, A] and of win, draw, loss logits [B, 3], as logits.

    Win, draw and loss are averaged as probabilities. Policies are averaged as log probabilities,
    which the search turns into a geometric mean over legal moves. Illegal moves are never trained
    and may have almost all of the probability or none: in a mean of probabilities, one network
    could count ten times as much as another for that reason alone.
    """
    policies, values = zip(*outputs, strict=True)
    policy = torch.stack([logits.log_softmax(1) for logits in policies]).mean(0)
    return policy, torch.stack([logits.log_softmax(1) for logits in values]).logsumexp(0)
