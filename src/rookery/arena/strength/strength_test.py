"""The interface of a strength test, and the table that it returns.

A test is divided into parts, which may be measured by different processes in any order.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rookery.arena.player import Player

PartResult = list[Any]
"""The moves or games of a player in one part of a test, as a list that JSON can hold."""


@dataclass(frozen=True)
class Percentage:
    """A count and its percentage, with a 95 % interval."""

    count: float
    percent: float
    low: float
    high: float
    """The interval is `low` to `high`; it has no width if nothing was sampled."""


@dataclass(frozen=True)
class StrengthRow:
    """One row of the table: a group of positions, or the games against one opponent."""

    label: str
    number: int
    """Number of moves or games."""
    errors: Percentage
    """Moves that lose game value (a win becomes a draw or a loss, a draw a loss), or the points
    lost in games."""
    not_best: Percentage | None
    """Moves that are not the best, slower wins and faster losses included; None for games."""


@dataclass(frozen=True)
class Strength:
    """The result of a strength test."""

    errors: float
    """The main result, in percent: lower is stronger, and a perfect player has 0."""
    label: str
    """What `errors` counts."""
    rows: tuple[StrengthRow, ...]


class StrengthTest(ABC):
    """Measures the strength of players of one game."""

    @property
    @abstractmethod
    def parts(self) -> int:
        """Number of parts."""

    @abstractmethod
    def measure_part(self, player: Player, part: int) -> PartResult:
        """Return the moves or games of the player in one part."""

    @abstractmethod
    def combine(self, results: Sequence[PartResult]) -> Strength:
        """Return the strength of a player from the results of all parts, in order."""

    def measure(self, player: Player) -> Strength:
        """Return the strength of a player; measure all parts in this process."""
        return self.combine([self.measure_part(player, part) for part in range(self.parts)])
