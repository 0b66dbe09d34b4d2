"""A spiking tower with the residual network's convolutions, norms and heads, over S steps.

    planes [B, P, H, W] -> stem -> currents, the same at every step
      depth x  currents + conv(spikes of conv(spikes of currents))
    mean of the last currents over the steps -> policy head, value head

Inside the tower, convolutions read spikes only. Skip connections add currents, before the neurons
that integrate them (Hu and others, "Advancing spiking neural networks towards deep residual
learning", 2021): gradients reach every block without passing through a spike, and deep towers
learn. Batch norm sees the rows of all steps together. The stem runs once per board, since its input
is the same at every step (direct coding). The readout is a membrane that integrates and neither
leaks nor fires: with spike rates instead, the network learned much more slowly
(docs/experiments.md).
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from rookery.nets.lif import Firing, LeakyFire
from rookery.nets.resnet import ConvNorm, PolicyValueNet, Sizes, fold


class SpikingBlock(nn.Module):
    """Two layers of neurons, each followed by a convolution, with a skip connection of currents."""

    def __init__(self, width: int, firing: Firing) -> None:
        super().__init__()
        self.fire_first = LeakyFire(firing)
        self.first = ConvNorm(width, width)
        self.fire_second = LeakyFire(firing)
        self.second = ConvNorm(width, width)

    def forward(self, currents: Tensor) -> Tensor:
        hidden = self.first(self.fire_first(currents))
        y: Tensor = currents + self.second(self.fire_second(hidden))
        return y


class SpikingNet(PolicyValueNet):
    """The spiking tower and its heads; as many parameters as a `ResNet` of the same sizes."""

    def __init__(self, sizes: Sizes, firing: Firing) -> None:
        super().__init__(sizes, lambda width: SpikingBlock(width, firing))
        self.firing = firing
        self.steps = firing.steps

    def tower(self, planes: Tensor) -> Tensor:
        """Return the mean of the last currents over the steps, [B, C, H, W]."""
        return mean_over_steps(self.blocks(torch.cat([self.stem(planes)] * self.steps)), self.steps)


def mean_over_steps(currents: Tensor, steps: int) -> Tensor:
    """Return the mean [B, C, H, W] of currents [S * B, C, H, W]."""
    boards = currents.shape[0] // steps
    return currents.reshape(steps, boards, *currents.shape[1:]).mean(0)


@dataclass(frozen=True)
class SpikeCount:
    """Spikes per evaluation: the cost on hardware where every spike costs energy."""

    mean: float
    """Spikes of all neurons in all steps, averaged over boards."""
    maximum: int
    """Neurons times steps."""

    @property
    def rate(self) -> float:
        """Spikes as a share of the maximum, from 0 to 1."""
        return self.mean / self.maximum


@torch.no_grad()
def count_spikes(net: nn.Module, planes: Tensor) -> SpikeCount | None:
    """Return the spikes per evaluation on boards `planes` [B, P, H, W]; None without neurons."""
    folded, spikes_seen, maximum = fold(net), torch.zeros((), device=planes.device), 0

    def count(layer: nn.Module, args: object, spikes: Tensor) -> None:
        nonlocal maximum
        spikes_seen.add_(spikes.sum(dtype=torch.float32))
        maximum += spikes.numel() // len(planes)

    layers = [module for module in folded.modules() if isinstance(module, LeakyFire)]
    for layer in layers:
        layer.register_forward_hook(count)
    if not layers:
        return None
    folded(planes)
    return SpikeCount(spikes_seen.item() / len(planes), maximum)
