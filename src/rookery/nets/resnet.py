"""A residual tower with policy and value heads, and the same network with batch norm folded.

    planes [B, P, H, W] -> stem -> depth x block -> policy head -> logits [B, A]
                                                 -> value head  -> win, draw, loss logits [B, 3]

A folded tower runs in the precision of its planes; the heads always run in float32. The last layer
of each head starts at zero: an untrained network gives equal probability to all moves and to all
results, so the first searches depend on the rules alone.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

Layer = TypeVar("Layer", bound=nn.Module)
Outputs = tuple[Tensor, Tensor]
"""Policy [B, A] and win, draw, loss [B, 3]: logits, or probabilities where stated."""
VALUE_CHANNELS = 2
"""Channels that the value head reads; a summary of the board is enough."""


class TowerConv(nn.Conv2d):
    """A folded convolution of the tower: most of the work, and safe in lower precision."""


class ConvNorm(nn.Module):
    """A 3x3 convolution that keeps the board's size, then batch norm."""

    def __init__(self, channels_in: int, channels_out: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels_out)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.norm(self.conv(x))
        return y

    def folded(self) -> TowerConv:
        """Return one convolution with a bias, equal to this module in evaluation mode."""
        norm, weight = self.norm, self.conv.weight
        assert norm.running_mean is not None and norm.running_var is not None
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        width, planes = weight.shape[:2]
        conv = TowerConv(planes, width, 3, padding=1, device="meta")  # draws no random numbers
        conv.weight = nn.Parameter((weight * scale[:, None, None, None]).contiguous())
        conv.bias = nn.Parameter(norm.bias - norm.running_mean * scale)
        return conv


class ResidualBlock(nn.Module):
    """Two convolutions with a skip connection."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = ConvNorm(width, width)
        self.second = ConvNorm(width, width)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.second(functional.relu(self.first(x))) + x)


class PolicyHead(nn.Module):
    """Logits [B, A] of the actions, by a fully connected layer."""

    def __init__(self, width: int, channels: int, *, cells: int, num_actions: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, channels, 1)
        self.last = zeroed(nn.Linear(channels * cells, num_actions))

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.last(functional.relu(self.conv(x)).flatten(1))
        return y


class BoardPolicyHead(nn.Module):
    """Logits [B, A] by a convolution: an action is a move type at a cell; cells share weights."""

    def __init__(self, width: int, *, cells: int, policy_cells: Tensor) -> None:
        super().__init__()
        move_types = int(policy_cells.max()) // cells + 1
        self.conv = zeroed(nn.Conv2d(width, move_types, 1))
        self.register_buffer("cells", policy_cells.clone())

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.conv(x).flatten(1).index_select(1, self.get_buffer("cells"))
        return y


class ValueHead(nn.Module):
    """Logits [B, 3] of win, draw, loss for the player to move."""

    def __init__(self, width: int, value_width: int, *, cells: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, VALUE_CHANNELS, 1)
        self.hidden = nn.Linear(VALUE_CHANNELS * cells, value_width)
        self.last = zeroed(nn.Linear(value_width, 3))

    def forward(self, x: Tensor) -> Tensor:
        hidden = functional.relu(self.hidden(functional.relu(self.conv(x)).flatten(1)))
        y: Tensor = self.last(hidden)
        return y


@dataclass(frozen=True)
class Sizes:
    """The sizes that determine the number of parameters."""

    planes_shape: tuple[int, int, int]
    num_actions: int
    width: int
    depth: int
    policy_channels: int
    value_width: int
    policy_cells: Tensor | None = None
    """[A] index of each action in [move types * H * W], for a policy head by convolution."""

    @property
    def cells(self) -> int:
        """Number of cells of the board."""
        return self.planes_shape[1] * self.planes_shape[2]


def new_policy_head(sizes: Sizes) -> PolicyHead | BoardPolicyHead:
    """Return a policy head by convolution if the game has policy cells, else a connected one."""
    if sizes.policy_cells is not None:
        return BoardPolicyHead(sizes.width, cells=sizes.cells, policy_cells=sizes.policy_cells)
    return PolicyHead(
        sizes.width, sizes.policy_channels, cells=sizes.cells, num_actions=sizes.num_actions
    )


class PolicyValueNet(nn.Module):
    """A stem, blocks, a policy head and a value head; subclasses define `tower`."""

    def __init__(self, sizes: Sizes, new_block: Callable[[int], nn.Module]) -> None:
        super().__init__()
        self.stem = ConvNorm(sizes.planes_shape[0], sizes.width)
        self.blocks = nn.Sequential(*(new_block(sizes.width) for _ in range(sizes.depth)))
        self.policy = new_policy_head(sizes)
        self.value = ValueHead(sizes.width, sizes.value_width, cells=sizes.cells)

    def tower(self, planes: Tensor) -> Tensor:
        """Return the input of the heads, [B, C, H, W]."""
        raise NotImplementedError

    def forward(self, planes: Tensor) -> Outputs:
        x = self.tower(planes).float()  # small layers are slow in half precision
        return self.policy(x), self.value(x)


class ResNet(PolicyValueNet):
    """The residual tower and its heads."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes, ResidualBlock)

    def tower(self, planes: Tensor) -> Tensor:
        y: Tensor = self.blocks(functional.relu(self.stem(planes)))
        return y


def tower_convs(folded: PolicyValueNet) -> list[Any]:
    """Return the tower's convolutions in order."""
    return [folded.stem, *(conv for block in folded.blocks for conv in (block.first, block.second))]


def zeroed(layer: Layer) -> Layer:
    """Return `layer` with all parameters set to zero."""
    for parameter in layer.parameters():
        nn.init.zeros_(parameter)
    return layer


@torch.no_grad()
def fold(net: nn.Module) -> nn.Module:
    """Return a copy of `net` for evaluation, every batch norm folded into its convolution."""
    folded = copy.deepcopy(net).eval().requires_grad_(False)
    for module in list(folded.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, ConvNorm):
                setattr(module, name, child.folded().requires_grad_(False))
    return folded


@torch.no_grad()
def without_zero_layers(folded: nn.Module) -> nn.Module:
    """Return a copy with random values in zero layers: zeros agree under any backend."""
    net, stream = copy.deepcopy(folded), torch.Generator().manual_seed(0)
    for parameter in net.parameters():
        if parameter.dim() > 1 and not parameter.any():
            values = torch.empty(parameter.shape).normal_(generator=stream)
            parameter.copy_(values * parameter[0].numel() ** -0.5)
    return net


def in_precision(folded: nn.Module, dtype: torch.dtype) -> nn.Module:
    """Return a copy with the tower in `dtype`, channels last; all of it if it has no tower."""
    net = copy.deepcopy(folded)
    tower = [module for module in net.modules() if isinstance(module, TowerConv)]
    if not tower:
        return net.to(dtype)
    for module in tower:
        module.weight.data = module.weight.to(dtype, memory_format=torch.channels_last)
        assert module.bias is not None
        module.bias.data = module.bias.to(dtype)
    return net
