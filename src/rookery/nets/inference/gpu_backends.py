"""The backends for GPUs: torch modules, fused cudnn calls, and ensembles of either.

cudnn's fused calls (convolution, bias, skip connection and relu in one) are about twice as fast as
torch modules. The last layers of the heads run in float32, as on the CPU.
"""

from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from rookery.base import ConfigError
from rookery.nets.build import Ensemble, PlanesShape, average
from rookery.nets.inference.backend import (
    TOLERANCE,
    Backend,
    BackendChoice,
    TorchBackend,
    are_finite,
    check_outputs,
    disagreement,
    random_boards,
)
from rookery.nets.resnet import (
    VALUE_CHANNELS,
    Outputs,
    PolicyHead,
    ResNet,
    tower_convs,
    without_zero_layers,
)

GPU_BACKENDS = {
    "fused-float16": torch.float16,
    "fused-bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "int8": torch.float16,
}
"""Tried in this order, except int8; the first that works and agrees with float32 is taken.

Fused calls are for residual networks; others, alone or in an ensemble, run as torch modules of the
same precision. int8 agrees less well and must be asked for: self-play runs in int8, everything else
by fused calls in float16."""
ONLY_RESIDUAL = "int8 needs a residual network; leave out run.inference"
TRIAL_ROWS = 64
CHANNEL_MULTIPLE = 8
"""Tensor cores need a multiple of 8 channels; zero channels are added."""


class GpuBackend(Backend, Protocol):
    """A backend that may return more logits than actions, or in another order."""

    cells: Tensor | None
    """Index of each action's logit in a row of logits; None: in order."""


class FusedBackend:
    """A residual network by cudnn's fused calls."""

    def __init__(self, folded: ResNet, dtype: torch.dtype) -> None:
        self._dtype = dtype
        self.net = folded
        self._convs = [pad_channels(conv.weight, dtype) for conv in tower_convs(folded)]
        self._biases = [conv.bias.to(dtype) for conv in tower_convs(folded)]
        self._head_weight, self._head_bias = (part.to(dtype) for part in _head_convs(folded))
        self.cells = _policy_cells(folded, channels=len(self._head_bias))

    def load(self, folded: nn.Module) -> None:
        assert isinstance(folded, ResNet)
        self.net.load_state_dict(folded.state_dict())
        for conv, weight, bias in zip(tower_convs(folded), self._convs, self._biases, strict=True):
            weight[:, : conv.weight.shape[1]].copy_(conv.weight)
            bias.copy_(conv.bias)
        for own, new in zip((self._head_weight, self._head_bias), _head_convs(folded), strict=True):
            own.copy_(new)

    def __call__(self, planes: Tensor) -> Outputs:
        x = self._conv(0, pad_channels(planes, self._dtype))
        for first in range(1, len(self._convs), 2):
            x = self._conv(first + 1, self._conv(first, x), skip=x)
        return self.heads(x)

    def _conv(self, index: int, x: Tensor, skip: Tensor | None = None) -> Tensor:
        weight, bias, one = self._convs[index], self._biases[index], [1, 1]
        if skip is None:
            return torch.cudnn_convolution_relu(x, weight, bias, one, one, one, 1)
        return torch.cudnn_convolution_add_relu(x, weight, skip, 1.0, bias, one, one, one, 1)

    def heads(self, x: Tensor) -> Outputs:
        """Run both heads' 1x1 convolutions in one multiplication, then their layers in float32."""
        policy, value = self.net.policy, self.net.value
        rows = x.permute(0, 2, 3, 1).reshape(-1, x.shape[1])
        both = torch.addmm(self._head_bias, rows, self._head_weight)
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


class EnsembleBackend:
    """An ensemble; every member runs by the same backend."""

    cells: Tensor | None = None

    def __init__(self, folded: Ensemble, backend: str) -> None:
        self._members = [new_backend(backend, member) for member in folded.members]

    def load(self, folded: nn.Module) -> None:
        assert isinstance(folded, Ensemble)
        for own, new in zip(self._members, folded.members, strict=True):
            own.load(new)

    def __call__(self, planes: Tensor) -> Outputs:
        return average([evaluate(member, planes) for member in self._members])


def new_backend(backend: str, folded: nn.Module) -> GpuBackend:
    """Return the folded network as the backend of this name runs it."""
    if backend == "int8" and not isinstance(folded, ResNet):
        raise ConfigError(ONLY_RESIDUAL)
    if isinstance(folded, Ensemble):
        return EnsembleBackend(folded, backend)
    if backend.startswith(("fused-", "int8")) and isinstance(folded, ResNet):
        return FusedBackend(folded, GPU_BACKENDS[backend])
    return TorchBackend(folded, GPU_BACKENDS[backend])


def choose_backend(folded: nn.Module, planes_shape: PlanesShape) -> BackendChoice:
    """Return the first backend that runs and agrees with float32."""
    net, dropped = without_zero_layers(folded), {}
    device = next(net.parameters()).device
    boards = torch.from_numpy(random_boards(TRIAL_ROWS, planes_shape)).to(device)
    expected = evaluate(new_backend("float32", net), boards)
    check_outputs(are_finite(expected), "float32")
    can_fuse = any(isinstance(module, ResNet) for module in folded.modules())
    for backend in GPU_BACKENDS:
        if backend == "int8" or (backend.startswith("fused-") and not can_fuse):
            continue
        try:
            found = evaluate(new_backend(backend, net), boards)
        except (RuntimeError, AttributeError, AssertionError) as error:
            dropped[backend] = f"failed: {str(error).partition(chr(10))[0]}"
            continue
        error_size = disagreement(found, expected)
        if error_size <= TOLERANCE:
            return BackendChoice(backend, dropped=dropped)
        dropped[backend] = f"differs from float32 by {error_size:.3g}"
    raise AssertionError("float32 agrees with itself")


def evaluate(network: GpuBackend, planes: Tensor) -> Outputs:
    """Return logits [B, A] of the actions in order, and of win, draw, loss [B, 3]."""
    logits, wdl = network(planes)
    return action_logits(logits, network.cells), wdl


def action_logits(logits: Tensor, cells: Tensor | None) -> Tensor:
    """Return the actions' logits in order."""
    return logits if cells is None else logits.index_select(1, cells).float()


def pad_channels(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Return `x` [B, C, H, W] in `dtype`, channels last, with C padded to CHANNEL_MULTIPLE."""
    y, extra = x.to(dtype), -x.shape[1] % CHANNEL_MULTIPLE
    if extra:
        y = functional.pad(y, (0, 0, 0, 0, 0, extra))
    return y.contiguous(memory_format=torch.channels_last)


def _head_convs(folded: ResNet) -> tuple[Tensor, Tensor]:
    """Return the 1x1 convolutions of both heads as one matrix [width, channels] and its bias."""
    convs = (folded.policy.conv, folded.value.conv)
    weight = torch.cat([conv.weight.flatten(1) for conv in convs])
    bias = torch.cat([conv.bias for conv in convs if conv.bias is not None])
    extra = -len(weight) % CHANNEL_MULTIPLE
    weight = functional.pad(weight, (0, 0, 0, extra)).t().contiguous()
    return weight, functional.pad(bias, (0, extra))


def _policy_cells(folded: ResNet, *, channels: int) -> Tensor | None:
    """Return the index of each action's logit in both heads' output [B, H * W, C], flattened."""
    if isinstance(folded.policy, PolicyHead):
        return None
    cells = folded.policy.get_buffer("cells")
    size = folded.value.hidden.in_features // VALUE_CHANNELS
    return cells % size * channels + cells // size


def _flatten(x: Tensor) -> Tensor:
    """Return [B, H * W, C] as [B, C * H * W], the order that the heads' layers expect."""
    return x.transpose(1, 2).flatten(1)
