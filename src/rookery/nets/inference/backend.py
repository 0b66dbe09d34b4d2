"""What the backends of CPU and GPU share: their interface, and the test that one can be trusted.

A backend runs a folded network in its own way: by torch in some precision, compiled, by fused
calls, by another library. It must agree with float32, on a copy of the network without zero layers
and on random boards.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rookery.base import RookeryError, generator
from rookery.nets.build import PlanesShape
from rookery.nets.resnet import Outputs, in_precision

Planes = NDArray[np.float32]

TOLERANCE = 0.02
"""Disagreement with float32 that is always accepted."""
MOST_TOLERANCE = 0.1
ROUNDING = 2.0**-10
"""Distance of neighbouring numbers in float16, relative to them."""
SINGLE_BOARD_FACTOR = 10
"""The error on a single board may be this many times the tolerance."""
REMEDY = "go back to an older checkpoint (rookery resume --at) and lower learning.learning_rate"


class NotFinite(RookeryError):
    """Weights or outputs of a network that are NaN or infinite."""


class Backend(Protocol):
    """A folded network, ready to run; its weights can be replaced in place."""

    def load(self, folded: nn.Module) -> None:
        """Take the weights of a folded network of the same shape."""

    def __call__(self, planes: Tensor) -> Outputs:
        """Return logits of policy and win, draw, loss [B, 3] for planes [B, P, H, W]."""


@dataclass(frozen=True)
class BackendChoice:
    """The backend in use, and how it was chosen. A resumed run asks for `backend` by name."""

    backend: str
    rates: Mapping[str, float] = field(default_factory=dict)
    """Evaluations per second of every backend measured, at the evaluator's batch size."""
    dropped: Mapping[str, str] = field(default_factory=dict)
    """Reasons why the other backends tried were rejected."""


class TorchBackend:
    """The network's own modules, with the tower in `dtype`, channels last.

    With `padded_to` the modules are compiled, once: they always see this number of rows.
    """

    cells: Tensor | None = None

    def __init__(self, folded: nn.Module, dtype: torch.dtype, *, padded_to: int = 0) -> None:
        self._dtype = dtype
        self._net = in_precision(folded, dtype)
        self._padded_to = padded_to
        # Without freezing, weights stay inputs of the compiled code and can change in place.
        self._forward: Any = torch.compile(self._net, dynamic=False) if padded_to else self._net

    def load(self, folded: nn.Module) -> None:
        self._net.load_state_dict(folded.state_dict())

    def __call__(self, planes: Tensor) -> Outputs:
        rows = pad_rows(planes, self._padded_to) if self._padded_to else planes
        logits, wdl = self._forward(rows.to(self._dtype, memory_format=torch.channels_last))
        return logits[: len(planes)].float(), wdl[: len(planes)].float()


def pad_rows(rows: Tensor, count: int) -> Tensor:
    """Return `rows` followed by zeros, `count` rows in total."""
    if len(rows) == count:
        return rows
    return torch.cat([rows, rows.new_zeros(count - len(rows), *rows.shape[1:])])


def random_boards(count: int, planes_shape: PlanesShape) -> Planes:
    """Return planes [count, P, H, W] with stones on about half of the cells, always the same."""
    planes, *cells = planes_shape
    stones = generator(0, "inference boards").integers(2 * planes, size=(count, 1, *cells))
    boards: Planes = (stones == np.arange(planes).reshape(-1, 1, 1)).astype(np.float32)
    return boards


def tolerated(network: Callable[[Tensor], Outputs], boards: Tensor, expected: Outputs) -> float:
    """Return the largest disagreement with `network`, in float32, that is accepted.

    It is larger if rounding has large effects: neurons of a spiking network fire or do not. This is
    measured by boards that differ as little as float16 can tell.
    """
    effect = disagreement(network(boards * (1 + ROUNDING)), expected)
    return min(max(TOLERANCE, 2 * effect), MOST_TOLERANCE)


def disagreement(found: Outputs, expected: Outputs) -> float:
    """Return how far apart two backends' probabilities are, given the logits of both.

    The error of a board is its largest error in any probability; the result is the mean over
    boards. Half precision exceeds it on a few boards of a trained network, and rounding tips
    neurons of a spiking one on nearly all: the worst board counts by 1 / SINGLE_BOARD_FACTOR.
    """
    errors = [
        (mine.softmax(1) - theirs.softmax(1)).abs().amax(1)
        for mine, theirs in zip(found, expected, strict=True)
    ]
    largest = torch.stack(errors).amax(0)
    return max(largest.mean().item(), largest.max().item() / SINGLE_BOARD_FACTOR)


def are_finite(tensors: Iterable[Tensor]) -> Tensor:
    """Return whether all numbers are finite, as a boolean on the tensors' device."""
    return torch.stack([tensor.isfinite().all() for tensor in tensors]).all()


def check_weights(is_finite: Tensor) -> None:
    """Refuse weights that contain NaN or infinity."""
    if not is_finite:
        raise NotFinite(f"the network's weights are not finite; {REMEDY}")


def check_outputs(is_finite: Tensor, backend: str) -> None:
    """Refuse weights under which the outputs of `backend` overflow."""
    if not is_finite:
        more_bits = "" if backend == "float32" else "set run.inference=float32, or "
        raise NotFinite(
            f"the network's outputs are not finite under {backend}; {more_bits}{REMEDY}"
        )
