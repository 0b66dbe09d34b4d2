"""The rows of a history on a GPU: marked when their game ends, and gathered for the learner."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rookery.base import Index, compiled
from rookery.games import ONGOING, Game
from rookery.gpu import view, zeros
from rookery.replay import DeviceRows, new_rows
from rookery.selfplay.history import History


class Marks(NamedTuple):
    """What is known of a row once its game has ended.

    results: [G, T] int8 how the game ended, for the player to move in the row.
    plies: [G, T] int16 moves made before the position.
    steps: [G, T] int16 rows of the same game before it.
    """

    results: Any
    plies: Any
    steps: Any


def new_marks(num_games: int, num_rows: int, device: torch.device) -> Marks:
    """Room for the marks of a history's rows."""
    kinds = (np.int8, np.int16, np.int16)
    return Marks(*(zeros(device, kind, num_games, num_rows) for kind in kinds))


@dataclass(frozen=True)
class Counts:
    """What had been counted when a harvest was gathered."""

    asked: int
    """Rows that wanted room in it."""
    rows: int
    """Rows in it."""
    turns: int
    """Moves made so far, in all games."""
    evaluations: int
    """Leaves that the net was asked about so far."""
    checks: int
    """Games played on though somebody would have resigned, so far."""
    errors: int
    """Those of them that he did not lose."""


class Harvest:
    """Rows of ended games, gathered on the GPU, waiting to be fetched."""

    def __init__(self, game: Game, room: int, device: torch.device) -> None:
        self.rows = new_rows(game, room, device)
        self.used = torch.zeros(2, dtype=torch.int64, device=device)
        """[2] rows asked for, and rows that found room: the first ones."""
        self._counts = torch.zeros(6, dtype=torch.int64, pin_memory=device.type == "cuda")
        self._is_filled = torch.cuda.Event() if device.type == "cuda" else None

    def fill(self, gather: Callable[[DeviceRows, Any], None], *counters: Tensor) -> None:
        """Enqueue `gather`, and then the counts on their way to the host.

        `counters` [G] are the turns, evaluations, checks and errors of each place.
        """
        self.used.zero_()
        gather(self.rows, view(self.used))
        counts = torch.cat([self.used, torch.stack([each.sum() for each in counters])])
        self._counts.copy_(counts, non_blocking=True)
        if self._is_filled is not None:
            self._is_filled.record()

    def fetch(self) -> tuple[DeviceRows, Counts]:
        """The rows in the host's memory, and the counts; waits for them alone."""
        if self._is_filled is None:
            return self._read()
        self._is_filled.synchronize()
        with torch.cuda.stream(_copying(self.used.device)):
            return self._read()

    def _read(self) -> tuple[DeviceRows, Counts]:
        counts = Counts(*map(int, self._counts))
        return self.rows.fetch(counts.rows), counts


@cache
def _copying(device: torch.device) -> torch.cuda.Stream:
    """A stream beside the one that computes."""
    return torch.cuda.Stream(device)


@compiled
def mark_end(history: History, marks: Marks, g: Index) -> None:
    """Mark the rows of the game in place g, which has ended."""
    first, result = history.firsts[g], history.results[g]
    for step in range(history.lengths[g]):
        marks.results[g, first + step] = result if step % 2 == 0 else -result
        marks.plies[g, first + step] = history.first_plies[g] + step
        marks.steps[g, first + step] = step


@compiled
def count_ended(history: History, g: Index) -> Index:
    """How many of the first rows of place g belong to games that have ended."""
    is_over = history.results[g] != ONGOING
    return np.int64(history.firsts[g] + (history.lengths[g] if is_over else 0))


@compiled
def copy_out(
    history: History, marks: Marks, g: Index, source: Index, rows: DeviceRows, target: Index
) -> None:
    """Copy a row of place g, whose game has ended, to `rows`."""
    rows.states[target] = history.states[g, source]
    rows.results[target] = marks.results[g, source]
    rows.values[target, 0] = history.values[g, source, 0]
    rows.values[target, 1] = history.values[g, source, 1]
    rows.num_legal[target] = history.num_legal[g, source]
    for i in range(history.num_legal[g, source]):
        rows.actions[target, i] = history.policy_actions[g, source, i]
        rows.policy[target, i] = history.policy[g, source, i]
    rows.plies[target] = marks.plies[g, source]
    rows.steps[target] = marks.steps[g, source]
    rows.moves[target] = history.actions[g, source]


@compiled
def move_row(history: History, g: Index, source: Index, target: Index) -> None:
    """Copy a row of the game under way to an earlier place."""
    history.states[g, target] = history.states[g, source]
    history.actions[g, target] = history.actions[g, source]
    history.values[g, target, 0] = history.values[g, source, 0]
    history.values[g, target, 1] = history.values[g, source, 1]
    history.num_legal[g, target] = history.num_legal[g, source]
    for i in range(history.num_legal[g, source]):
        history.policy_actions[g, target, i] = history.policy_actions[g, source, i]
        history.policy[g, target, i] = history.policy[g, source, i]


@compiled
def close_up(history: History, g: Index, ended: Index) -> None:
    """Drop the `ended` first rows of place g; what follows moves up."""
    if history.results[g] != ONGOING:
        history.lengths[g] = 0
    for i in range(history.lengths[g]):
        move_row(history, g, np.int64(ended + i), np.int64(i))
    history.firsts[g] = 0
