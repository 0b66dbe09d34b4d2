"""Operations of a network per evaluation, and an estimate of their energy.

A spike that reaches a convolution adds one weight to every output that reads it, and nothing is
multiplied: this is an addition where a residual network has a multiply-accumulate. Whatever lies
outside of the board costs nothing. The stem and the heads of a spiking network read real numbers,
and every neuron multiplies its membrane by the decay once per step. Biases, activation functions
and skip connections are not counted.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from rookery.nets.lif import LeakyFire
from rookery.nets.resnet import fold
from rookery.nets.spiking import SpikingBlock

MULTIPLY_ACCUMULATE_PICOJOULES = 4.6
ADDITION_PICOJOULES = 0.9
"""In float32 on a chip of 45 nm: Horowitz, "Computing's energy problem (and what we
can do about it)", ISSCC 2014; 3.7 pJ for a multiplication and 0.9 pJ for an addition."""


@dataclass(frozen=True)
class Operations:
    """Operations per evaluation, averaged over boards."""

    multiply_accumulates: float
    additions: float

    @property
    def microjoules(self) -> float:
        """An estimate of the energy, without that of memory."""
        multiplying = MULTIPLY_ACCUMULATE_PICOJOULES * self.multiply_accumulates
        return (multiplying + ADDITION_PICOJOULES * self.additions) / 1e6


@dataclass(frozen=True)
class OperationCount:
    """Operations of a spiking network, and of one without spikes."""

    spiking: Operations
    residual: Operations
    """The same layers in a residual network."""


@torch.no_grad()
def count_operations(net: nn.Module, planes: Tensor) -> OperationCount:
    """Return the operations per evaluation on boards `planes` [B, P, H, W]."""
    folded, boards = fold(net), len(planes)
    blocks = [module for module in folded.modules() if isinstance(module, SpikingBlock)]
    reads_spikes = {conv for block in blocks for conv in (block.first, block.second)}
    multiplied, added, residual = 0.0, 0.0, 0.0

    def count(layer: nn.Module, args: tuple[Tensor], y: Tensor) -> None:
        nonlocal multiplied, added, residual
        if isinstance(layer, LeakyFire):
            multiplied += y.numel() / boards
            return
        readers = _readers(layer, args[0])
        all_numbers = readers.sum().item()
        residual += all_numbers
        if layer in reads_spikes:
            added += (args[0].sum(0, dtype=torch.float64) * readers).sum().item() / boards
        else:
            multiplied += all_numbers

    for module in folded.modules():
        if isinstance(module, nn.Conv2d | nn.Linear | LeakyFire):
            module.register_forward_hook(count)
    folded(planes)
    return OperationCount(Operations(multiplied, added), Operations(residual, 0.0))


def _readers(layer: nn.Module, x: Tensor) -> Tensor:
    """Return how many outputs of a layer read each number of a row of `x`."""
    if isinstance(layer, nn.Linear):
        return torch.full(x.shape[1:], layer.out_features, dtype=torch.float64, device=x.device)
    assert isinstance(layer, nn.Conv2d)
    board = torch.ones((1, 1, *x.shape[2:]), dtype=torch.float64, device=x.device)
    kernel = board.new_ones((1, 1, *layer.kernel_size))
    cells = functional.conv2d(board, kernel, padding=layer.padding)[0]
    return (layer.out_channels * cells).expand(x.shape[1:])
