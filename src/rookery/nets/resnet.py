"""A residual tower with two heads, and the same tower with its batch norm folded away.

    planes [B, P, H, W] -> stem -> depth x block -> policy head -> logits [B, A]
                                                 -> value head  -> win, draw, loss logits [B, 3]

The planes set the precision of the tower once folded; the heads always run in float32. The last
layer of each head starts at zero: an untrained net finds every move equally good and
every result equally likely, and the first search is led by the rules alone.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

Layer = TypeVar("Layer", bound=nn.Module)
VALUE_CHANNELS = 2
"""Channels the value head reads; it only needs a summary of the board."""


class TowerConv(nn.Conv2d):
    """A folded convolution of the tower: where the time goes, and what may run in fewer bits."""


class ConvNorm(nn.Module):
    """A convolution that keeps the board's size, then batch norm."""

    def __init__(self, channels_in: int, channels_out: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels_out)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.norm(self.conv(x))
        return y

    def folded(self) -> TowerConv:
        """One convolution with a bias that gives what this gives in evaluation mode."""
        norm, weight = self.norm, self.conv.weight
        assert norm.running_mean is not None and norm.running_var is not None
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        planes, width = weight.shape[1], weight.shape[0]
        blank = TowerConv(planes, width, 3, padding=1, device="meta", dtype=weight.dtype)
        conv = blank.to_empty(device=weight.device)  # draws no random numbers
        conv.weight.copy_(weight * scale[:, None, None, None])
        assert conv.bias is not None
        conv.bias.copy_(norm.bias - norm.running_mean * scale)
        return conv


class Block(nn.Module):
    """Two convolutions around a short cut."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = ConvNorm(width, width)
        self.second = ConvNorm(width, width)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.second(functional.relu(self.first(x))) + x)


class PolicyHead(nn.Module):
    """Logits [B, A] of the actions."""

    def __init__(self, width: int, channels: int, *, cells: int, num_actions: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, channels, 1)
        self.last = zeroed(nn.Linear(channels * cells, num_actions))

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.last(functional.relu(self.conv(x)).flatten(1))
        return y


class BoardPolicyHead(nn.Module):
    """The same, drawn on the board: an action is a kind of move, a plane, from a cell.

    What is learned of a kind of move holds on the whole board.
    """

    def __init__(self, width: int, *, cells: int, policy_cells: Tensor) -> None:
        super().__init__()
        kinds = int(policy_cells.max()) // cells + 1
        self.conv = zeroed(nn.Conv2d(width, kinds, 1))
        self.register_buffer("cells", policy_cells.clone())

    def forward(self, x: Tensor) -> Tensor:
        return self.pick(self.conv(x).flatten(1))

    def pick(self, drawn: Tensor) -> Tensor:
        """The actions' logits among all kinds of moves from all cells [B, K * H * W]."""
        return drawn.index_select(1, self.get_buffer("cells"))


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
    """What decides how many parameters a net has."""

    planes_shape: tuple[int, int, int]
    num_actions: int
    width: int
    depth: int
    policy_channels: int
    value_width: int
    policy_cells: Tensor | None = None
    """Where on the board actions are drawn, if they are."""

    @property
    def cells(self) -> int:
        """Cells of the board."""
        return self.planes_shape[1] * self.planes_shape[2]


def new_policy_head(sizes: Sizes) -> PolicyHead | BoardPolicyHead:
    """A head that draws actions on the board, or a plain one, as the sizes say."""
    if sizes.policy_cells is not None:
        return BoardPolicyHead(sizes.width, cells=sizes.cells, policy_cells=sizes.policy_cells)
    return PolicyHead(
        sizes.width, sizes.policy_channels, cells=sizes.cells, num_actions=sizes.num_actions
    )


class TwoHeaded(nn.Module):
    """A stem, blocks, and the two heads; how boards go through the former is `tower`."""

    def __init__(self, sizes: Sizes, new_block: Callable[[int], nn.Module]) -> None:
        super().__init__()
        self.stem = ConvNorm(sizes.planes_shape[0], sizes.width)
        self.blocks = nn.Sequential(*(new_block(sizes.width) for _ in range(sizes.depth)))
        self.policy = new_policy_head(sizes)
        self.value = ValueHead(sizes.width, sizes.value_width, cells=sizes.cells)

    def tower(self, planes: Tensor) -> Tensor:
        """What the heads see of the boards, [B, C, H, W]."""
        raise NotImplementedError

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        x = self.tower(planes)
        x = x.float()  # the heads are small, and many processors are slow at theirs in fewer bits
        return self.policy(x), self.value(x)


class ResNet(TwoHeaded):
    """The residual tower and its heads."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes, Block)

    def tower(self, planes: Tensor) -> Tensor:
        y: Tensor = self.blocks(functional.relu(self.stem(planes)))
        return y


def tower_convs(folded: ResNet) -> list[Any]:
    """The tower's convolutions in their order."""
    return [folded.stem, *(conv for block in folded.blocks for conv in (block.first, block.second))]


def zeroed(layer: Layer) -> Layer:
    """`layer` with all its parameters at zero."""
    for parameter in layer.parameters():
        nn.init.zeros_(parameter)
    return layer


@torch.no_grad()
def fold(net: nn.Module) -> nn.Module:
    """A copy of `net` for evaluation, every batch norm folded into its convolution."""
    folded = copy.deepcopy(net).eval().requires_grad_(False)
    for module in list(folded.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, ConvNorm):
                setattr(module, name, child.folded().requires_grad_(False))
    return folded


@torch.no_grad()
def without_zero_layers(folded: nn.Module) -> nn.Module:
    """A copy whose zero layers are random: an untrained net's zeros agree under any method."""
    net, stream = copy.deepcopy(folded), torch.Generator().manual_seed(0)
    for parameter in net.parameters():
        if parameter.dim() > 1 and not parameter.any():
            drawn = torch.empty(parameter.shape).normal_(generator=stream)
            parameter.copy_(drawn * parameter[0].numel() ** -0.5)
    return net
