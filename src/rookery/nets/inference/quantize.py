"""A residual tower rounded to eight bits.

Weights become -127..127, with a scale for every channel that they lead to; activations, which
relu leaves positive, 0..127, with a scale for every channel that they lie in. The latter goes into
the weights that read the channel. What a channel can reach is measured on boards, so that the
scales hold for boards of that kind.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from rookery.nets.resnet import ResNet, tower_convs

LEVELS = 127
SHARE = 0.75
"""How far a channel's scale follows its own range; the rest, that of the widest channel. With its
own alone, a quiet channel's integers are as large as a loud one's, and so is what rounding the
weights that read it spoils."""
QUIETEST = 1e-3
"""Of the widest range: no channel counts as narrower."""
FAINTEST = 1e-6
"""No range is narrower: a dead layer needs a scale, too."""


class Layer(NamedTuple):
    """One convolution: relu(scale * convolution + bias + ratio * short cut), all by channel."""

    weight: Tensor
    """[O, I, 3, 3]: integers, but for the stem's, which reads planes."""
    scale: Tensor
    bias: Tensor
    ratio: Tensor
    """Steps of the output in one step of the short cut; zero where there is none."""


def ranges(folded: ResNet, boards: Tensor) -> list[Tensor]:
    """The largest value of every channel [C] after each convolution, on these boards."""
    return [x.amax((0, 2, 3)) for x in _activations(folded, boards)]


def _activations(folded: ResNet, boards: Tensor) -> Iterator[Tensor]:
    stem, *convs = tower_convs(folded)
    x = functional.relu(stem(boards))
    yield x
    for first, second in zip(convs[::2], convs[1::2], strict=True):
        middle = functional.relu(first(x))
        yield middle
        x = functional.relu(second(middle) + x)
        yield x


def round_tower(folded: ResNet, reached: list[Tensor]) -> list[Layer]:
    """Every convolution in eight bits, for channels that reach so far.

    What the last one gives is not rounded: the heads read it.
    """
    convs = tower_convs(folded)
    steps = [_step(most) for most in reached[:-1]] + [torch.ones_like(reached[-1])]
    layers = [_layer(convs[0].weight, 1 / steps[0], convs[0].bias / steps[0])]
    for index in range(1, len(convs)):
        bias, step = convs[index].bias, steps[index]
        weight, scale = _rounded(convs[index].weight * steps[index - 1][None, :, None, None])
        ratio = steps[index - 2] / step if index % 2 == 0 else None
        layers.append(_layer(weight, scale / step, bias / step, ratio))
    return layers


def _layer(weight: Tensor, scale: Tensor, bias: Tensor, ratio: Tensor | None = None) -> Layer:
    return Layer(weight, scale, bias, torch.zeros_like(scale) if ratio is None else ratio)


def _step(most: Tensor) -> Tensor:
    """What one level of each channel stands for."""
    widest = most.max().clamp(min=FAINTEST)
    return most.clamp(min=QUIETEST * widest) ** SHARE * widest ** (1 - SHARE) / LEVELS


def _rounded(weight: Tensor) -> tuple[Tensor, Tensor]:
    """`weight` as integers, and the scale of each output channel."""
    scale = weight.abs().amax((1, 2, 3)).clamp(min=FAINTEST * FAINTEST) / LEVELS
    return (weight / scale[:, None, None, None]).round().to(torch.int8), scale
