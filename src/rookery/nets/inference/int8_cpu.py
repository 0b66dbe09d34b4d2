"""The tower of a residual network in 8 bits on an x86 processor, by oneDNN inside torch.

The sums of the blocks stay in float32; the two convolutions of a block read 8 bits. Scales fit the
boards that the network really sees: the first rows after new weights are evaluated in float32,
and their ranges are measured. Levels go to 127 only, so that processors without VNNI, which add
pairs of products in 16 bits, do not overflow.
"""

import platform
import threading
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from rookery.base import compiled
from rookery.nets.inference.quantize import LEVELS, channel_ranges, level_of, quantize, residual
from rookery.nets.resnet import Outputs, ResNet, TowerConv, in_precision, tower_convs

MEASURED_ROWS = 256
TYPICAL_ROWS = 64
X86 = ("x86_64", "AMD64")
_FORM = ([1, 1], [1, 1], [1, 1], 1)
"""Stride, padding, dilation and groups of a convolution."""


def is_int8_supported() -> bool:
    """Return whether torch has 8-bit convolutions for this processor."""
    return platform.machine() in X86 and hasattr(torch.ops.onednn, "qconv2d_pointwise")


class Int8CpuBackend:
    """A residual network whose tower runs in 8 bits, after its first rows."""

    def __init__(self, folded: nn.Module) -> None:
        self._lock = threading.Lock()
        self.load(folded)

    def load(self, folded: nn.Module) -> None:
        """Take the weights of a folded network; the next rows are measured."""
        with self._lock:
            self._net = residual(in_precision(folded, torch.float32))
            self._tower: Int8CpuTower | None = None
            self._ranges: list[Tensor] = []
            self._rows = 0

    def exact(self, planes: Tensor) -> Outputs:
        """Return the outputs in float32."""
        outputs: Outputs = self._net(planes.contiguous(memory_format=torch.channels_last))
        return outputs

    def __call__(self, planes: Tensor) -> Outputs:
        """Return logits of policy and win, draw, loss [B, 3] for planes [B, P, H, W]."""
        tower = self._tower
        if tower is None:
            self._measure(planes)
            return self.exact(planes)
        x = tower(planes)
        return self._net.policy(x), self._net.value(x)

    def _measure(self, planes: Tensor) -> None:
        with self._lock:
            ranges = channel_ranges(self._net, planes)
            if self._ranges:
                pairs = zip(ranges, self._ranges, strict=True)
                ranges = [now.maximum(before) for now, before in pairs]
            self._ranges = ranges
            self._rows += len(planes)
            if self._rows >= MEASURED_ROWS:
                self._tower = Int8CpuTower(self._net, ranges, planes.shape[2:])


class Int8CpuTower:
    """The stem in float32, then blocks in 8 bits."""

    def __init__(self, folded: ResNet, ranges: list[Tensor], board: Sequence[int]) -> None:
        """`ranges` are the largest values of every channel after each convolution."""
        self._stem, *convs = tower_convs(folded)
        levels = [level_of(most) for most in ranges]
        one = torch.ones_like(levels[0])
        self._blocks = [
            (
                1 / levels[first],
                Convolution(convs[first], levels[first], levels[first + 1], board),
                Convolution(convs[first + 1], levels[first + 1], one, board),
            )
            for first in range(0, len(convs), 2)
        ]

    def __call__(self, planes: Tensor) -> Tensor:
        """Return the input of the heads [B, C, H, W] in float32."""
        x = functional.relu(self._stem(planes.contiguous(memory_format=torch.channels_last)))
        for levels, first, second in self._blocks:
            x = second.added_to(x, first(to_levels(x, levels)))
        return x


class Convolution:
    """A 3x3 convolution that reads 8-bit levels, in oneDNN's form."""

    def __init__(
        self, conv: TowerConv, level_in: Tensor, level_out: Tensor, board: Sequence[int]
    ) -> None:
        """`level_in` and `level_out` [C] are the values of one level in each channel.

        Weights that are packed for another shape would be packed again at every call.
        """
        assert conv.bias is not None
        weight, scale = quantize(conv.weight * level_in[None, :, None, None])
        self._scale, self._bias = scale / level_out, conv.bias / level_out
        self._zeros = torch.zeros(len(scale), dtype=torch.int32)
        shape = [TYPICAL_ROWS, weight.shape[1], *board]
        self._weight = torch.ops.onednn.qconv_prepack(weight, self._scale, 1.0, 0, *_FORM, shape)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the levels of the output after relu."""
        parts = (x, 1.0, 0, self._weight, self._scale, self._zeros)
        y: Tensor = torch.ops.onednn.qconv2d_pointwise(
            *parts, self._bias, *_FORM, 1.0, 0, torch.uint8, "relu", [], ""
        )
        return y

    def added_to(self, skip: Tensor, x: Tensor) -> Tensor:
        """Return relu(output + skip) in float32; the memory of `skip` is used."""
        parts = (x, 1.0, 0, self._weight, self._scale, self._zeros, skip)
        after: tuple[object, ...] = (1.0, 0, "sum", 1.0, "relu", [], "")
        y: Tensor = torch.ops.onednn.qconv2d_pointwise.binary(
            *parts, self._bias, *_FORM, 1.0, 0, torch.float32, *after
        )
        return y


def to_levels(x: Tensor, levels: Tensor) -> Tensor:
    """Return the levels of activations x [B, C, H, W], channels last; `levels` [C] is per unit."""
    values = x.permute(0, 2, 3, 1).numpy().reshape(-1, len(levels))
    found = np.empty(values.shape, np.uint8)
    _round(values, levels.numpy(), found)
    batch, channels, height, width = x.shape
    return torch.from_numpy(found.reshape(batch, height, width, channels)).permute(0, 3, 1, 2)


@compiled
def _round(
    values: NDArray[np.float32], levels: NDArray[np.float32], out: NDArray[np.uint8]
) -> None:
    most, half = np.float32(LEVELS), np.float32(0.5)
    for row in range(values.shape[0]):
        for channel in range(values.shape[1]):
            value = min(values[row, channel] * levels[channel], most)
            out[row, channel] = np.uint8(value + half)
