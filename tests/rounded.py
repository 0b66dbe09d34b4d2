"""A rounded tower in plain arithmetic, to compare kernels with."""

import torch
from torch import Tensor
from torch.nn import functional

from rookery.nets.inference.quantize import LEVELS, QuantizedConv


def run_layers(layers: list[QuantizedConv], planes: Tensor) -> Tensor:
    """Activations [B, C, H, W] after all of `layers`, every integer exact."""
    x = _layer(layers[0], planes.half().double(), None)
    for first in range(1, len(layers), 2):
        middle = _layer(layers[first], x, None)
        x = _layer(layers[first + 1], middle, x, is_last=first + 2 == len(layers))
    return x


def _layer(
    layer: QuantizedConv, x: Tensor, short_cut: Tensor | None, is_last: bool = False
) -> Tensor:
    scale, bias, ratio = (part.double()[None, :, None, None] for part in layer[1:])
    is_stem = layer.weight.dtype != torch.int8
    weight = (layer.weight.half() if is_stem else layer.weight).double()
    y = scale * functional.conv2d(x, weight, padding=1) + bias
    if short_cut is not None:
        y = y + ratio * short_cut
    y = functional.relu(y)
    return y if is_last else y.round().clamp(max=LEVELS)
