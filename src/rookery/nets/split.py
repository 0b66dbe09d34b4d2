"""A residual net cut into consecutive parts, each small enough for a device of its own.

    planes [B, P, H, W] -> stem, blocks -> [B, H, W, C] -> blocks -> ... -> blocks, heads -> logits

Between parts the channels are the last axis: what a tower in channels-last layout has in memory,
so that handing it on copies nothing. A part keeps the names that its layers have in the whole.
"""

from collections import OrderedDict
from collections.abc import Sequence
from functools import cache

from torch import Tensor, nn
from torch.nn import functional

from rookery.base import ConfigError
from rookery.nets.build import NetConfig
from rookery.nets.resnet import BoardPolicyHead, ConvNorm, PolicyHead, ResNet, ValueHead


class NetPart(nn.Module):
    """Consecutive layers of a net: blocks, the first part's after the stem, the last's with heads.

    The first part maps planes, the others what the part before gave; the last gives the logits
    of policy [B, A] and win, draw, loss [B, 3], the others activations [B, H, W, C].
    """

    def __init__(
        self,
        stem: ConvNorm | None,
        blocks: nn.Sequential,
        heads: tuple[PolicyHead | BoardPolicyHead, ValueHead] | None,
        *,
        width: int,
    ) -> None:
        super().__init__()
        self.stem = stem
        self.blocks = blocks
        self.policy = heads[0] if heads else None
        self.value = heads[1] if heads else None
        self.width = width

    def forward(self, x: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        x = x.permute(0, 3, 1, 2) if self.stem is None else functional.relu(self.stem(x))
        x = self.blocks(x)
        if self.policy is None or self.value is None:
            return x.permute(0, 2, 3, 1).contiguous()
        x = x.float()
        return self.policy(x), self.value(x)


def max_parts(config: NetConfig) -> int:
    """Parts that a net can be cut into: a stem, blocks and heads."""
    return config.depth + 2


def split_net(net: nn.Module, part: int, *, num_parts: int) -> NetPart:
    """Part number `part` of `net`, cut so that the parts are about equally large.

    The layers are those of `net`, not copies: let go of `net` to keep this part only.
    """
    if not isinstance(net, ResNet):
        raise ConfigError(f"a {type(net).__name__} cannot be cut; choose net.kind = resnet")
    layers = [net.stem, *net.blocks, nn.ModuleList([net.policy, net.value])]
    if not 0 <= part < num_parts <= len(layers):
        raise ConfigError(
            f"part {part} of {num_parts} of a net with {len(layers)} layers, expected at most "
            "a part for each; use fewer devices or raise net.depth"
        )
    sizes = tuple(sum(weight.numel() for weight in layer.parameters()) for layer in layers)
    begin, end = ([0, *even_cuts(sizes, num_parts), len(layers)][i] for i in (part, part + 1))
    depth = len(net.blocks)
    own = OrderedDict((str(i), net.blocks[i]) for i in range(depth) if begin <= i + 1 < end)
    return NetPart(
        net.stem if begin == 0 else None,
        nn.Sequential(own),
        (net.policy, net.value) if end == len(layers) else None,
        width=net.stem.conv.out_channels,
    )


def even_cuts(sizes: Sequence[int], num_parts: int) -> tuple[int, ...]:
    """Where to cut a row of things into parts of one or more, by the least sum of squares."""

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
