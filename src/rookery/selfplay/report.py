"""What a stretch of self-play did."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rookery.replay import DeviceRows, hash_states

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, odd


@dataclass(frozen=True)
class SelfPlayReport:
    """What a stretch of self-play did."""

    games: int
    positions: int
    simulations: int
    evaluations: int
    seconds: float
    mean_length: float
    first_wins: float
    """Share of finished games won by the player who moved first."""
    draws: float
    duplicate_games: float
    """Share of finished games that equal another one of the stretch, move for move."""
    resign_checks: int = 0
    """Games played on though somebody would have resigned."""
    resign_errors: int = 0
    """Those of them that he did not lose."""


def merge_plays(reports: Sequence[SelfPlayReport]) -> SelfPlayReport:
    """What several stretches, played side by side, did together."""
    games = max(sum(report.games for report in reports), 1)

    def mean(name: str) -> float:
        """Over games."""
        return float(sum(getattr(report, name) * report.games for report in reports) / games)

    return SelfPlayReport(
        games=sum(report.games for report in reports),
        positions=sum(report.positions for report in reports),
        simulations=sum(report.simulations for report in reports),
        evaluations=sum(report.evaluations for report in reports),
        seconds=max((report.seconds for report in reports), default=0.0),
        mean_length=mean("mean_length"),
        first_wins=mean("first_wins"),
        draws=mean("draws"),
        duplicate_games=mean("duplicate_games"),
        resign_checks=sum(report.resign_checks for report in reports),
        resign_errors=sum(report.resign_errors for report in reports),
    )


def report_rows(
    rows: DeviceRows,
    *,
    positions: int,
    simulations: int,
    evaluations: int,
    seconds: float,
    resign_checks: int = 0,
    resign_errors: int = 0,
) -> SelfPlayReport:
    """A stretch that searched `positions`, and whose ended games are `rows` of the host."""
    starts = np.flatnonzero(rows.steps == 0)
    if not len(starts):
        return SelfPlayReport(
            0, positions, positions * simulations, evaluations, seconds, 0.0, 0.0, 0.0, 0.0
        )
    ends = np.append(starts[1:], len(rows.steps)) - 1
    is_first = rows.plies[starts] % 2 == 0
    results = np.where(is_first, rows.results[starts], -rows.results[starts])
    return SelfPlayReport(
        games=len(starts),
        positions=positions,
        simulations=positions * simulations,
        evaluations=evaluations,
        seconds=seconds,
        mean_length=float(rows.plies[ends].mean() + 1),
        first_wins=float((results > 0).mean()),
        draws=float((results == 0).mean()),
        duplicate_games=1.0 - len(np.unique(_hash_games(rows, starts))) / len(starts),
        resign_checks=resign_checks,
        resign_errors=resign_errors,
    )


def _hash_games(rows: DeviceRows, starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A hash of each game's first position and its moves."""
    with np.errstate(over="ignore"):
        factors = _MULTIPLIER ** (rows.steps.astype(np.uint64) + np.uint64(1))
        moves = np.add.reduceat((rows.moves.astype(np.uint64) + np.uint64(1)) * factors, starts)
        return hash_states(rows.states[starts]) * _MULTIPLIER + moves
