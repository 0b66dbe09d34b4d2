"""What a search asks of a net."""

from typing import Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class Evaluator(Protocol):
    """A net on the CPU, or anywhere behind arrays of the host."""

    def __call__(
        self, planes: NDArray[np.float32], /
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Policy logits [B, A] and win-draw-loss probabilities [B, 3] of planes [B, P, H, W]."""


@runtime_checkable
class DeviceEvaluator(Protocol):
    """A net in a GPU's memory, for a search that is there too."""

    device: torch.device
    cells: Tensor | None
    """Where in a row of logits each action's lies; None: one lies behind the other."""

    def forward(self, planes: Tensor, /) -> tuple[Tensor, Tensor]:
        """Policy logits [B, A or more] and win-draw-loss probabilities [B, 3], on the device."""

    def adapt(self, boards: Tensor, /) -> None:
        """Fit itself to boards [B, P, H, W] like these, if it has to."""
