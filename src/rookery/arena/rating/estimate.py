"""The rating of a player on a ladder: the estimate, its interval, and the next opponent.

The unit is a pair of games from one opening, with colours swapped; its score is the mean of the
two. The model is Bradley-Terry, with a draw as half a point. Pairs with less variance than coin
flips of the same probabilities carry more information and count for more, as in `elo`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from rookery.arena.rating.elo import ELO_PER_NAT, Z95, expected_score

Floats = NDArray[np.float64]
GRID_STEP = 1.0
"""Resolution of the grid of ratings, in Elo."""
GRID_MARGIN = 1200.0
"""Elo by which the grid extends beyond the ends of the ladder."""
SHARPNESS = 2


@dataclass(frozen=True)
class RatingEstimate:
    """A rating on the scale of a ladder."""

    elo: float
    low: float
    """Lower end of the 95 % interval; -inf if every game was lost."""
    high: float
    """Upper end of the 95 % interval; inf if every game was won."""

    @property
    def width(self) -> float:
        """Width of the interval."""
        return self.high - self.low

    def __str__(self) -> str:
        return f"{self.elo:.0f} ({self.low:.0f} to {self.high:.0f})"


def estimate_rating(
    elos: Sequence[float], rungs: Sequence[int], scores: Sequence[float]
) -> RatingEstimate:
    """Return the rating of a player with `scores` in pairs against `rungs` rated `elos`.

    The maximum likelihood estimate includes one drawn pair against the most frequent opponent, so
    that it is finite. The interval holds the ratings with a likelihood close to the maximum.
    """
    opponents, points = np.asarray(elos, np.float64), np.asarray(scores, np.float64)
    met = np.asarray(rungs, np.intp)
    pairs = np.bincount(met, minlength=len(elos)).astype(np.float64)
    won = np.bincount(met, weights=points, minlength=len(elos)).astype(np.float64)
    added = np.eye(len(elos))[pairs.argmax()]
    grid = np.arange(min(elos) - GRID_MARGIN, max(elos) + GRID_MARGIN + GRID_STEP, GRID_STEP)
    likelihood = _log_likelihood(grid, opponents, pairs, won)
    elo = float(grid[(likelihood + _log_likelihood(grid, opponents, added, added / 2)).argmax()])
    ratio = _variance_ratio(elo, opponents[met], points)
    inside = likelihood >= likelihood.max() - ratio * Z95**2 / 2
    low = -inf if (points == 0).all() else min(elo, float(grid[inside][0]))
    high = inf if (points == 1).all() else max(elo, float(grid[inside][-1]))
    return RatingEstimate(elo, low, high)


def next_rung(
    elos: Sequence[float], assigned: Sequence[int], estimate: RatingEstimate | None
) -> int:
    """Return the index of the next opponent; `assigned` counts the pairs started against each.

    Without an estimate it is the rung with the fewest pairs. With one, rungs get pairs in
    proportion to their information, which is largest near the estimate.
    """
    counts = np.asarray(assigned, np.float64)
    if estimate is None:
        return int(counts.argmin())
    expected = expected_score(estimate.elo - np.asarray(elos, np.float64))
    information = (expected * (1 - expected)) ** SHARPNESS
    return int((information / (counts + 1)).argmax())


def _log_likelihood(grid: Floats, opponents: Floats, pairs: Floats, won: Floats) -> Floats:
    """Return the log likelihood of the points `won` in `pairs`, at each rating of the grid."""
    gaps = (grid[:, None] - opponents[None, :]) / ELO_PER_NAT
    lost = -np.logaddexp(0, gaps)
    total: Floats = (won * (gaps + lost) + (pairs - won) * lost).sum(axis=1)
    return total


def _variance_ratio(elo: float, opponents: Floats, scores: Floats) -> float:
    """Return the variance of the pairs relative to coin flips, with one fair flip added to both."""
    expected = expected_score(elo - opponents)
    observed = float(((scores - expected) ** 2).sum()) + 0.25
    return observed / (float((expected * (1 - expected)).sum()) + 0.25)
