"""A network split into consecutive parts, one per device, for pipeline parallelism.

    planes [B, P, H, W] -> stem, blocks -> [B, H, W, C] -> blocks -> ... -> blocks, heads -> logits

Between parts the channels are the last axis: this is the memory layout of a channels-last tower, so
nothing is copied. A spiking network passes on the currents of its S steps, [S * B, H, W, C]. Layers
keep the names that they have in the whole network.
"""

from collections import OrderedDict
from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional

from rookery.base import ConfigError
from rookery.nets.build import NetConfig
from rookery.nets.resnet import BoardPolicyHead, ConvNorm, Outputs, PolicyHead, ResNet, ValueHead
from rookery.nets.spiking import SpikingNet, mean_over_steps


class NetPart(nn.Module):
    """Consecutive layers of a network: blocks, in the first part the stem, in the last the heads.

    The first part reads planes, every other part the activations [S * B, H, W, C] of the part
    before, where S is 1 except in spiking networks. The last part returns logits of policy [B, A]
    and win, draw, loss [B, 3].
    """

    def __init__(
        self,
        stem: ConvNorm | None,
        blocks: nn.Sequential,
        heads: tuple[PolicyHead | BoardPolicyHead, ValueHead] | None,
        *,
        width: int,
        steps: int,
    ) -> None:
        """`steps` are those of a spiking network, 0 in others."""
        super().__init__()
        self.stem = stem
        self.blocks = blocks
        self.policy = heads[0] if heads else None
        self.value = heads[1] if heads else None
        self.width = width
        self.steps = steps

    def forward(self, x: Tensor) -> Tensor | Outputs:
        x = self.blocks(self._enter(x))
        if self.policy is None or self.value is None:
            return x.permute(0, 2, 3, 1).contiguous()
        if self.steps:
            x = mean_over_steps(x, self.steps)
        x = x.float()
        return self.policy(x), self.value(x)

    def _enter(self, x: Tensor) -> Tensor:
        """Return the input of the first block."""
        if self.stem is None:
            return x.permute(0, 3, 1, 2)
        x = self.stem(x.contiguous(memory_format=torch.channels_last))
        return torch.cat([x] * self.steps) if self.steps else functional.relu(x)


def max_parts(config: NetConfig) -> int:
    """Return the maximum number of parts: one per layer, that is stem, blocks and heads."""
    return config.depth + 2


def split_net(net: nn.Module, part: int, *, num_parts: int) -> NetPart:
    """Return part number `part` of `net`; all parts have about the same number of parameters.

    The layers are those of `net`, not copies; drop `net` to free the memory of the others.
    """
    if not isinstance(net, ResNet | SpikingNet):
        raise ConfigError(f"a {type(net).__name__} cannot be split; choose net.kind=resnet")
    layers = [net.stem, *net.blocks, nn.ModuleList([net.policy, net.value])]
    if not 0 <= part < num_parts <= len(layers):
        raise ConfigError(
            f"got part {part} of {num_parts} for a network with {len(layers)} layers, expected "
            "at most one part per layer; use fewer devices or raise net.depth"
        )
    sizes = tuple(sum(weight.numel() for weight in layer.parameters()) for layer in layers)
    begin, end = ([0, *balanced_cuts(sizes, num_parts), len(layers)][i] for i in (part, part + 1))
    depth = len(net.blocks)
    own = OrderedDict((str(i), net.blocks[i]) for i in range(depth) if begin <= i + 1 < end)
    return NetPart(
        net.stem if begin == 0 else None,
        nn.Sequential(own),
        (net.policy, net.value) if end == len(layers) else None,
        width=net.stem.conv.out_channels,
        steps=net.steps if isinstance(net, SpikingNet) else 0,
    )


def balanced_cuts(sizes: Sequence[int], num_parts: int) -> tuple[int, ...]:
    """Return where to cut a list into non-empty parts with the least sum of squared sizes."""

    @cache
    def best(begin: int, parts: int) -> tuple[int, tuple[int, ...]]:
        if parts == 1:
            return sum(sizes[begin:]) ** 2, ()
        options = []
        for end in range(begin + 1, len(sizes) - parts + 2):
            squares, cuts = best(end, parts - 1)
            options.append((sum(sizes[begin:end]) ** 2 + squares, (end, *cuts)))
        return min(options)

    return best(0, num_parts)[1]
