"""Both heads of a network together, and tensors as tensor cores expect them.

The heads' 1x1 convolutions are one multiplication in half precision; their last layers run in
float32, as on the CPU.
"""

import torch
from torch import Tensor
from torch.nn import functional

from rookery.nets.resnet import VALUE_CHANNELS, Outputs, PolicyHead, PolicyValueNet

CHANNEL_MULTIPLE = 8
"""Tensor cores need a multiple of 8 channels; zero channels are added."""


class FusedHeads:
    """The heads of a folded network."""

    def __init__(self, folded: PolicyValueNet, dtype: torch.dtype) -> None:
        self._net = folded
        self._weight, self._bias = (part.to(dtype) for part in _head_convs(folded))
        self.cells = _policy_cells(folded, channels=len(self._bias))
        """Index of each action's logit in a row of logits; None: in order."""

    def load(self) -> None:
        """Take the weights that the network has now."""
        for own, new in zip((self._weight, self._bias), _head_convs(self._net), strict=True):
            own.copy_(new)

    def __call__(self, x: Tensor) -> Outputs:
        """Return logits of policy and win, draw, loss, given the tower's output [B, C, H, W]."""
        policy, value = self._net.policy, self._net.value
        rows = x.permute(0, 2, 3, 1).reshape(-1, x.shape[1])
        both = torch.addmm(self._bias, rows, self._weight)
        both = both.view(len(x), -1, both.shape[1])  # [B, H * W, C]
        split = policy.conv.out_channels
        for_policy, for_value = both[..., :split], both[..., split : split + VALUE_CHANNELS]
        hidden = functional.relu(value.hidden(_flatten(functional.relu(for_value.float()))))
        if isinstance(policy, PolicyHead):
            logits = policy.last(_flatten(functional.relu(for_policy.float())))
            return logits, value.last(hidden)
        logits = both.flatten(1)
        if logits.dtype == torch.bfloat16:
            logits = logits.float()  # kernels cannot read bfloat16
        return logits, value.last(hidden)


def pad_channels(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Return `x` [B, C, H, W] in `dtype`, channels last, with C padded to CHANNEL_MULTIPLE."""
    y, extra = x.to(dtype), -x.shape[1] % CHANNEL_MULTIPLE
    if extra:
        y = functional.pad(y, (0, 0, 0, 0, 0, extra))
    return y.contiguous(memory_format=torch.channels_last)


def _head_convs(folded: PolicyValueNet) -> tuple[Tensor, Tensor]:
    """Return the 1x1 convolutions of both heads as one matrix [width, channels] and its bias."""
    convs = (folded.policy.conv, folded.value.conv)
    weight = torch.cat([conv.weight.flatten(1) for conv in convs])
    bias = torch.cat([conv.bias for conv in convs if conv.bias is not None])
    extra = -len(weight) % CHANNEL_MULTIPLE
    weight = functional.pad(weight, (0, 0, 0, extra)).t().contiguous()
    return weight, functional.pad(bias, (0, extra))


def _policy_cells(folded: PolicyValueNet, *, channels: int) -> Tensor | None:
    """Return the index of each action's logit in both heads' output [B, H * W, C], flattened."""
    if isinstance(folded.policy, PolicyHead):
        return None
    cells = folded.policy.get_buffer("cells")
    size = folded.value.hidden.in_features // VALUE_CHANNELS
    return cells % size * channels + cells // size


def _flatten(x: Tensor) -> Tensor:
    """Return [B, H * W, C] as [B, C * H * W], the order that the heads' layers expect."""
    return x.transpose(1, 2).flatten(1)
