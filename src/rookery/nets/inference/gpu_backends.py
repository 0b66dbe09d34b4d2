"""The backends for GPUs: torch modules, fused calls, and ensembles of either.

cudnn's fused calls (convolution, bias, skip connection and relu in one) are about twice as fast as
torch modules. For spiking networks, `spiking_gpu` fuses everything between two convolutions.
"""

from functools import partial
from typing import Protocol

import torch
from torch import Tensor, nn

from rookery.nets.build import Ensemble, PlanesShape, average
from rookery.nets.inference.backend import (
    Backend,
    BackendChoice,
    TorchBackend,
    are_finite,
    check_outputs,
    disagreement,
    random_boards,
    tolerated,
)
from rookery.nets.inference.fused_heads import FusedHeads, pad_channels
from rookery.nets.inference.quantize import residual
from rookery.nets.inference.spiking_gpu import SpikingBackend
from rookery.nets.resnet import Outputs, ResNet, tower_convs, without_zero_layers
from rookery.nets.spiking import SpikingNet

GPU_BACKENDS = {
    "fused-float16": torch.float16,
    "fused-bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "int8": torch.float16,
}
"""Tried in this order, except int8; the first that works and agrees with float32 is taken.

Fused calls in float16 are for residual and spiking networks, in bfloat16 for residual ones. Where
there are none, a network, alone or in an ensemble, runs as torch modules of the same precision.
int8 agrees less well and must be asked for: self-play runs in int8, everything else by fused calls
in float16."""
FUSED = {"fused-float16": (ResNet, SpikingNet), "fused-bfloat16": (ResNet,), "int8": (ResNet,)}
"""Networks that a backend has fused calls for."""
TRIAL_ROWS = 64


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
        self.heads = FusedHeads(folded, dtype)
        self.cells = self.heads.cells

    def load(self, folded: nn.Module) -> None:
        assert isinstance(folded, ResNet)
        self.net.load_state_dict(folded.state_dict())
        for conv, weight, bias in zip(tower_convs(folded), self._convs, self._biases, strict=True):
            weight[:, : conv.weight.shape[1]].copy_(conv.weight)
            bias.copy_(conv.bias)
        self.heads.load()

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
    if backend == "int8":
        residual(folded)
    if isinstance(folded, Ensemble):
        return EnsembleBackend(folded, backend)
    dtype, is_fused = GPU_BACKENDS[backend], isinstance(folded, FUSED.get(backend, ()))
    if is_fused and isinstance(folded, SpikingNet):
        return SpikingBackend(folded, dtype)
    if is_fused and isinstance(folded, ResNet):
        return FusedBackend(folded, dtype)
    return TorchBackend(folded, dtype)


def choose_backend(folded: nn.Module, planes_shape: PlanesShape) -> BackendChoice:
    """Return the first backend that runs and agrees with float32."""
    net, dropped = without_zero_layers(folded), {}
    device = next(net.parameters()).device
    boards = torch.from_numpy(random_boards(TRIAL_ROWS, planes_shape)).to(device)
    reference = partial(evaluate, new_backend("float32", net))
    expected = reference(boards)
    check_outputs(are_finite(expected), "float32")
    limit = tolerated(reference, boards, expected)
    for backend in GPU_BACKENDS:
        if backend == "int8" or (backend in FUSED and not _can_fuse(backend, folded)):
            continue
        try:
            found = evaluate(new_backend(backend, net), boards)
        except (RuntimeError, AttributeError, AssertionError) as error:
            dropped[backend] = f"failed: {str(error).partition(chr(10))[0]}"
            continue
        error_size = disagreement(found, expected)
        if error_size <= limit:
            return BackendChoice(backend, dropped=dropped)
        dropped[backend] = f"differs from float32 by {error_size:.3g}"
    raise AssertionError("float32 agrees with itself")


def _can_fuse(backend: str, folded: nn.Module) -> bool:
    """Return whether the network, or a member of the ensemble, has fused calls."""
    return any(isinstance(module, FUSED[backend]) for module in folded.modules())


def evaluate(network: GpuBackend, planes: Tensor) -> Outputs:
    """Return logits [B, A] of the actions in order, and of win, draw, loss [B, 3]."""
    logits, wdl = network(planes)
    return action_logits(logits, network.cells), wdl


def action_logits(logits: Tensor, cells: Tensor | None) -> Tensor:
    """Return the actions' logits in order."""
    return logits if cells is None else logits.index_select(1, cells).float()
