"""A spiking network on a GPU: a convolution, then one kernel for all that follows it.

    stem -> spikes -> depth x  convolution -> bias, spikes
                               convolution -> bias, skip connection, spikes of the next block

After the last block the second kernel averages over the steps instead. Convolutions run in half
precision, channels last, over all steps at once. The stem's currents are the same at every step and
are stored once.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from rookery.nets.inference.fused_heads import FusedHeads, pad_channels
from rookery.nets.lif_kernels import add_and_average, add_and_fire, fire
from rookery.nets.resnet import Outputs, tower_convs
from rookery.nets.spiking import SpikingNet


class SpikingBackend:
    """A spiking network by convolutions and the kernels of `lif_kernels`."""

    def __init__(self, folded: SpikingNet, dtype: torch.dtype) -> None:
        self._dtype = dtype
        self._net = folded
        stem, *others = tower_convs(folded)
        self._weights = [pad_channels(stem.weight, dtype)]
        for conv in others:
            self._weights.append(conv.weight.to(dtype, memory_format=torch.channels_last))
        self._biases = [conv.bias for conv in tower_convs(folded)]
        self._no_bias = torch.zeros_like(self._biases[0])
        self._heads = FusedHeads(folded, dtype)
        self.cells = self._heads.cells

    def load(self, folded: nn.Module) -> None:
        self._net.load_state_dict(folded.state_dict())
        for conv, weight in zip(tower_convs(self._net), self._weights, strict=True):
            weight[:, : conv.weight.shape[1]].copy_(conv.weight)
        self._heads.load()

    def __call__(self, planes: Tensor) -> Outputs:
        return self._heads(self._tower(pad_channels(planes, self._dtype)))

    def _tower(self, planes: Tensor) -> Tensor:
        """Return the mean of the last currents over the steps, [B, C, H, W]."""
        biases, firing, boards = self._biases, self._net.firing, len(planes)
        currents = self._conv(0, planes, biases[0].to(self._dtype))
        last = len(biases) - 1
        if last == 0:
            return currents
        spikes = fire(currents, self._no_bias, firing, boards=boards)
        for second in range(2, last, 2):
            change = self._branch(second, spikes)
            currents, spikes = add_and_fire(currents, change, biases[second], firing)
        return add_and_average(currents, self._branch(last, spikes), biases[last], firing)

    def _branch(self, second: int, spikes: Tensor) -> Tensor:
        """Return the output of a block's second convolution, without its bias."""
        firing = self._net.firing
        currents = self._conv(second - 1, spikes)
        boards = len(spikes) // firing.steps
        return self._conv(second, fire(currents, self._biases[second - 1], firing, boards=boards))

    def _conv(self, index: int, x: Tensor, bias: Tensor | None = None) -> Tensor:
        y = functional.conv2d(x, self._weights[index], bias, padding=1)
        return y.contiguous(memory_format=torch.channels_last)
