"""Rows of finished games in a GPU's memory, on their way to the host."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from rookery.games import Game
from rookery.gpu import view
from rookery.replay import Rows, fetch, new_rows


@dataclass(frozen=True)
class Counts:
    """What had been counted when rows were collected."""

    needed: int
    """Rows that needed space."""
    rows: int
    """Rows that were collected."""
    positions: int
    """Positions searched so far, in all games."""
    evaluations: int
    """Leaves evaluated by the network so far."""
    resign_checks: int
    """Games so far that were played on although one player would have resigned."""
    resign_errors: int
    """Of those, games that the resigning player did not lose."""


class FinishedRows:
    """A buffer that the GPU fills with finished games while the host does something else."""

    def __init__(self, game: Game, capacity: int, device: torch.device) -> None:
        self._rows = new_rows(game, capacity, device=device)
        self._used = torch.zeros(2, dtype=torch.int64, device=device)
        self._counts = torch.zeros(6, dtype=torch.int64, pin_memory=device.type == "cuda")
        self._is_filled = torch.cuda.Event() if device.type == "cuda" else None

    def fill(self, collect: Callable[[Rows, Any], None], *counters: Tensor) -> None:
        """Enqueue `collect(rows, used)`, and the copy of the counts to the host.

        `counters` [G] are the positions, evaluations, resign_checks and resign_errors of each game.
        """
        self._used.zero_()
        collect(self._rows, view(self._used))
        counts = torch.cat([self._used, torch.stack([each.sum() for each in counters])])
        self._counts.copy_(counts, non_blocking=True)
        if self._is_filled is not None:
            self._is_filled.record()

    def fetch(self) -> tuple[Rows, Counts]:
        """Return the rows in host memory and the counts; wait for them alone."""
        if self._is_filled is None:
            return self._read()
        self._is_filled.synchronize()
        with torch.cuda.stream(_copy_stream(self._used.device)):
            return self._read()

    def _read(self) -> tuple[Rows, Counts]:
        counts = Counts(*map(int, self._counts))
        return fetch(self._rows, counts.rows), counts


@cache
def _copy_stream(device: torch.device) -> torch.cuda.Stream:
    """Return a stream beside the one that computes."""
    return torch.cuda.Stream(device)
