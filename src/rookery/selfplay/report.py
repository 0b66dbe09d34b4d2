"""What self-play did in one iteration."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rookery.replay import Rows, count, game_starts, hash_states

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, odd

MEANS = (
    "mean_length",
    "first_wins",
    "draws",
    "duplicate_games",
    "value_error",
    "even_error",
)
"""Figures of a report that are means over games, or shares of them."""


@dataclass(frozen=True)
class SelfPlayReport:
    """What self-play did in some period."""

    games: int
    """Games that ended."""
    positions: int
    """Positions searched."""
    simulations: int
    evaluations: int
    seconds: float
    mean_length: float
    """Mean number of plies of the games that ended, random openings included."""
    first_wins: float
    """Share of finished games won by the player who moved first."""
    draws: float
    duplicate_games: float
    """Share of finished games that equal another one of the period, move for move."""
    resign_checks: int = 0
    """Games played to the end although one player would have resigned."""
    resign_errors: int = 0
    """Of those, games that the resigning player did not lose."""
    batches: int = 0
    """Calls of the network."""
    mean_batch: float = 0.0
    """Mean number of rows that the network computed per call."""
    useful_rows: float = 0.0
    """Share of these rows that a search needed; the others are padding or games that wait."""
    value_error: float = 0.0
    """Mean squared difference between the search's value and the result, in finished games."""
    even_error: float = 0.0
    """The same if every position were judged even: the mean squared result."""


@dataclass(frozen=True)
class Played:
    """Rows of the games that ended in some period of self-play; there may be none."""

    rows: Rows
    report: SelfPlayReport


def merge_reports(reports: Sequence[SelfPlayReport]) -> SelfPlayReport:
    """Return the report of several periods that passed side by side."""

    def total(name: str) -> Any:
        return sum(getattr(report, name) for report in reports)

    def mean(name: str) -> Any:
        weighted = sum(getattr(report, name) * report.games for report in reports)
        return float(weighted / max(total("games"), 1))

    totals = {name: total(name) for name in ("games", "simulations", *Counts._fields)}
    means = {name: mean(name) for name in MEANS}
    seconds = max((report.seconds for report in reports), default=0.0)
    batches = BatchCounts(
        total("batches"), sum(round(report.batches * report.mean_batch) for report in reports)
    )
    figures = batches.figures(totals["evaluations"])
    return SelfPlayReport(**totals, **means, **figures, seconds=seconds)


class Counts(NamedTuple):
    """What had been counted in all games at some point of self-play."""

    positions: int
    evaluations: int
    resign_checks: int
    resign_errors: int


class BatchCounts(NamedTuple):
    """Calls of the network in some period, and the rows that it computed in all of them."""

    batches: int
    rows: int

    def figures(self, evaluations: int) -> dict[str, Any]:
        """Return the figures of a report, of whose rows `evaluations` were needed."""
        return {
            "batches": self.batches,
            "mean_batch": self.rows / max(self.batches, 1),
            "useful_rows": evaluations / max(self.rows, 1),
        }


def report_rows(
    rows: Rows,
    before: Counts,
    after: Counts,
    *,
    batches: BatchCounts,
    simulations: int,
    seconds: float,
) -> SelfPlayReport:
    """Return the report of a period with counts before and after, whose finished games are `rows`.

    `simulations` are per position; `rows` are in host memory.
    """
    counted = Counts(*(new - old for old, new in zip(before, after, strict=True)))
    starts = game_starts(rows)
    number = max(len(starts), 1)
    ends = np.append(starts[1:], count(rows)) - 1 if len(starts) else starts
    results = np.where(rows.plies[starts] % 2 == 0, rows.results[starts], -rows.results[starts])
    return SelfPlayReport(
        **counted._asdict(),
        **batches.figures(counted.evaluations),
        games=len(starts),
        simulations=counted.positions * simulations,
        seconds=seconds,
        mean_length=float((rows.plies[ends] + 1).sum()) / number,
        first_wins=float((results > 0).sum()) / number,
        draws=float((results == 0).sum()) / number,
        duplicate_games=(len(starts) - len(np.unique(_hash_games(rows, starts)))) / number,
        value_error=_mean_square(rows.values - rows.results),
        even_error=_mean_square(rows.results),
    )


def _mean_square(numbers: NDArray[Any]) -> float:
    return float(np.square(numbers, dtype=np.float64).sum()) / max(len(numbers), 1)


def _hash_games(rows: Rows, starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a hash of each game's first position and its moves."""
    if not len(starts):
        return np.zeros(0, np.uint64)
    steps = (rows.plies - rows.openings).astype(np.uint64)
    with np.errstate(over="ignore"):
        factors = _MULTIPLIER ** (steps + np.uint64(1))
        moves = np.add.reduceat((rows.moves.astype(np.uint64) + np.uint64(1)) * factors, starts)
        first = hash_states(rows.states[starts]).numpy().view(np.uint64)
        return first * _MULTIPLIER + moves
