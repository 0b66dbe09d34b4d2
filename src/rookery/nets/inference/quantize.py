"""Quantization of a residual tower to 8 bits.

Weights become integers from -127 to 127 with one scale per output channel. Activations, which relu
leaves positive, become 0 to 127 with one scale per channel, which is folded into the weights that
read the channel. The range of a channel is measured on boards, so the scales fit boards of that
kind.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from rookery.base import ConfigError
from rookery.nets.resnet import ResNet, tower_convs

ONLY_RESIDUAL = "int8 needs a residual network; leave out run.inference"
LEVELS = 127
OWN_RANGE_WEIGHT = 0.75
"""Weight of a channel's own range in its scale; the rest is the widest channel's. With its own
range alone, a channel of small values has integers as large as the others', and so is the error
from rounding the weights that read it."""
MIN_RELATIVE_RANGE = 1e-3
"""Smallest range of a channel, relative to the widest one."""
MIN_RANGE = 1e-6
"""Smallest range of a layer: a layer without activity needs a scale, too."""


class QuantizedConv(NamedTuple):
    """One convolution: relu(scale * convolution + bias + skip_scale * skip), all by channel."""

    weight: Tensor
    """[O, I, 3, 3]: integers, except the stem's, which reads planes."""
    scale: Tensor
    bias: Tensor
    skip_scale: Tensor
    """Levels of the output per level of the skip connection; zero without one."""


def residual(folded: nn.Module) -> ResNet:
    """Return the network, or raise ConfigError if it is not a residual one."""
    if not isinstance(folded, ResNet):
        raise ConfigError(ONLY_RESIDUAL)
    return folded


def channel_ranges(folded: ResNet, boards: Tensor) -> list[Tensor]:
    """Return the largest value of every channel [C] after each convolution, on these boards."""
    return [x.amax((0, 2, 3)) for x in _activations(folded, boards)]


def _activations(folded: ResNet, boards: Tensor) -> Iterator[Tensor]:
    stem, *convs = tower_convs(folded)
    x = functional.relu(stem(boards))
    yield x
    for first, second in zip(convs[::2], convs[1::2], strict=True):
        hidden = functional.relu(first(x))
        yield hidden
        x = functional.relu(second(hidden) + x)
        yield x


def quantize_tower(folded: ResNet, ranges: list[Tensor]) -> list[QuantizedConv]:
    """Return every convolution in 8 bits, for activations of these ranges.

    The output of the last one stays in floating point: the heads read it.
    """
    convs = tower_convs(folded)
    steps = [level_of(most) for most in ranges[:-1]] + [torch.ones_like(ranges[-1])]
    stem, step = convs[0], steps[0]
    layers = [QuantizedConv(stem.weight, 1 / step, stem.bias / step, torch.zeros_like(step))]
    for index in range(1, len(convs)):
        bias, step = convs[index].bias, steps[index]
        weight, scale = quantize(convs[index].weight * steps[index - 1][None, :, None, None])
        skip_scale = steps[index - 2] / step if index % 2 == 0 else torch.zeros_like(scale)
        layers.append(QuantizedConv(weight, scale / step, bias / step, skip_scale))
    return layers


def level_of(most: Tensor) -> Tensor:
    """Return the value of one level in each channel."""
    widest = most.max().clamp(min=MIN_RANGE)
    own = most.clamp(min=MIN_RELATIVE_RANGE * widest)
    return own**OWN_RANGE_WEIGHT * widest ** (1 - OWN_RANGE_WEIGHT) / LEVELS


def quantize(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return `weight` as integers, and the scale of each output channel."""
    scale = weight.abs().amax((1, 2, 3)).clamp(min=MIN_RANGE * MIN_RANGE) / LEVELS
    return (weight / scale[:, None, None, None]).round().to(torch.int8), scale
