"""The interfaces of a search: the evaluators it calls, and the batched search it offers."""

from typing import Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rookery.games import Repetitions, States
from rookery.search.decisions import Decisions


class Evaluator(Protocol):
    """A network that takes and returns NumPy arrays."""

    def __call__(
        self, planes: NDArray[np.float32], /
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return logits [G, A] and win-draw-loss probabilities [G, 3] of planes [G, P, H, W]."""


@runtime_checkable
class DeviceEvaluator(Protocol):
    """A network in GPU memory, for a search on the same GPU."""

    device: torch.device
    cells: Tensor | None
    """[A] column of each action's logit in a row of logits; None if it equals the action."""

    def forward(self, planes: Tensor, /) -> tuple[Tensor, Tensor]:
        """Return logits [G, A or more] and probabilities [G, 3] of planes [G, P, H, W]."""

    def adapt(self, planes: Tensor, /) -> None:
        """Calibrate the network on planes [G, P, H, W], if it is quantized."""


class Search(Protocol):
    """A batch of G searches, on the CPU or on a GPU."""

    @property
    def roots(self) -> States:
        """[G] positions to search, written by the caller; none may be terminal."""

    @property
    def repetitions(self) -> Repetitions:
        """Positions played before the roots, written by the caller if positions can repeat."""

    @property
    def evaluations(self) -> int:
        """Number of positions evaluated by the network so far."""

    def run(self, simulations: int, num_games: int | None = None) -> Decisions:
        """Search the first `num_games` roots (all by default) with `simulations` each."""
