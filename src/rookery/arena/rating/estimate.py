"""Where a player stands on a ladder: its likeliest rating, the interval, whom it should meet next.

Two games from one opening, colours swapped, are a pair, the unit of all that follows; its score is
the mean of the two. The chance of a point is Bradley-Terry's, and a draw half a point. Pairs that
vary less than coin flips of the same chances tell more than those, and count for more, as in `elo`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from rookery.arena.rating.elo import ELO_PER_NAT
from rookery.arena.rating.interval import Z95

Floats = NDArray[np.float64]
STEP = 1.0
"""Elo; ratings are looked for on a grid, so far beyond the ladder's ends:"""
BEYOND = 1200.0
SHARPNESS = 2


@dataclass(frozen=True)
class RatingEstimate:
    """A rating on the scale of a ladder."""

    elo: float
    low: float
    """Lower end of the 95 % interval; -inf where every game was lost."""
    high: float
    """Upper end; inf where every game was won."""

    @property
    def width(self) -> float:
        """How wide the interval is."""
        return self.high - self.low


def estimate(
    elos: Sequence[float], rungs: Sequence[int], scores: Sequence[float]
) -> RatingEstimate:
    """The rating of a player with `scores` in pairs against `rungs`, whose ratings are `elos`.

    A pair won and lost by half against the rung that was met most is added for the rating, so that
    it is finite; the interval holds every rating beside which the scores are not too unlikely.
    """
    opponents, points = np.asarray(elos, np.float64), np.asarray(scores, np.float64)
    met = np.asarray(rungs, np.intp)
    pairs = np.bincount(met, minlength=len(elos)).astype(np.float64)
    won = np.bincount(met, weights=points, minlength=len(elos)).astype(np.float64)
    usual = np.eye(len(elos))[pairs.argmax()]
    grid = np.arange(min(elos) - BEYOND, max(elos) + BEYOND + STEP, STEP)
    likelihood = _likelihood(grid, opponents, pairs, won)
    elo = float(grid[(likelihood + _likelihood(grid, opponents, usual, usual / 2)).argmax()])
    inside = likelihood >= likelihood.max() - _spread(elo, opponents[met], points) * Z95**2 / 2
    low = -inf if (points == 0).all() else min(elo, float(grid[inside][0]))
    high = inf if (points == 1).all() else max(elo, float(grid[inside][-1]))
    return RatingEstimate(elo, low, high)


def expected(elo: float, opponents: Floats) -> Floats:
    """The share of the points that is expected against each."""
    chances: Floats = 1 / (1 + np.exp((opponents - elo) / ELO_PER_NAT))
    return chances


def next_rung(
    elos: Sequence[float], assigned: Sequence[int], estimate: RatingEstimate | None
) -> int:
    """Whom to meet next; `assigned` are the pairs that each rung has had or is playing.

    First each rung once. Then so that games are shared out as each tells, most those nearest.
    """
    counts = np.asarray(assigned, np.float64)
    if estimate is None:
        return int(counts.argmin())
    chances = expected(estimate.elo, np.asarray(elos, np.float64))
    tells = (chances * (1 - chances)) ** SHARPNESS
    return int((tells / (counts + 1)).argmax())


def _likelihood(grid: Floats, opponents: Floats, pairs: Floats, won: Floats) -> Floats:
    """The log likelihood at each rating of the grid of having won so much of so many pairs."""
    gaps = (grid[:, None] - opponents[None, :]) / ELO_PER_NAT
    lost = -np.logaddexp(0, gaps)
    total: Floats = (won * (gaps + lost) + (pairs - won) * lost).sum(axis=1)
    return total


def _spread(elo: float, opponents: Floats, scores: Floats) -> float:
    """How much pairs vary beside coin flips of the same chances, one even flip added to both."""
    chances = expected(elo, opponents)
    seen = float(((scores - chances) ** 2).sum()) + 0.25
    return seen / (float((chances * (1 - chances)).sum()) + 0.25)
