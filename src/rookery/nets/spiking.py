"""A spiking tower with the residual net's convolutions, norms and heads, over S steps.

    planes [B, P, H, W] -> stem -> currents, the same at every step
      depth x  currents + conv(spikes of conv(spikes of currents))
    the last currents' mean over the steps -> policy head, value head

Inside the tower, convolutions hear spikes only. Short cuts join currents, ahead of the neurons that
gather them (Hu and others, "Advancing spiking neural networks towards deep residual learning",
2021): gradients reach every block without passing through a spike, and deep towers learn. Batch
norm sees the rows of all steps together. The stem runs once a board, since it is shown the same
planes at every step (direct coding). The readout is a membrane that gathers and neither leaks nor
fires: with rates of spikes instead, the net learned much more slowly (docs/experiments.md).
"""

import torch
from torch import Tensor, nn

from rookery.nets.lif import Firing, LeakyFire
from rookery.nets.resnet import ConvNorm, Sizes, TwoHeaded


class SpikingBlock(nn.Module):
    """Two layers of neurons, a convolution behind each, around a short cut of currents."""

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


class SpikingNet(TwoHeaded):
    """The spiking tower and its heads; as many parameters as a `ResNet` of the same sizes."""

    def __init__(self, sizes: Sizes, firing: Firing) -> None:
        super().__init__(sizes, lambda width: SpikingBlock(width, firing))
        self.steps = firing.steps

    def tower(self, planes: Tensor) -> Tensor:
        """The mean over the steps of the last currents."""
        currents = self.blocks(torch.cat([self.stem(planes)] * self.steps))
        mean: Tensor = currents.unflatten(0, (self.steps, planes.shape[0])).mean(0)
        return mean
