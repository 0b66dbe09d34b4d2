"""Ratings of many players from a table of single games, for `make_chess_ladder.py`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rookery.arena.rating.bradley_terry import fit_strengths
from rookery.arena.rating.elo import ELO_PER_NAT, Z95
from rookery.base import ConfigError


@dataclass(frozen=True)
class Rating:
    """The rating of one player among several; their mean is 0 unless one of them is the anchor."""

    name: str
    elo: float
    low: float
    high: float
    """The 95 % interval of `elo`."""


def fit_ratings(
    names: Sequence[str], points: NDArray[np.float64], *, anchor: tuple[str, float] | None = None
) -> tuple[Rating, ...]:
    """Return Bradley-Terry ratings of K players from points [K, K], row against column.

    A draw is half a point for both. Half a point is added for each player of any two that met.
    The intervals come from the curvature of the likelihood; they are too wide if many games are
    drawn. `anchor` is a player and its fixed rating; the intervals are then relative to it.
    """
    points = np.asarray(points, np.float64)
    met = (points + points.T) > 0
    _check_table(names, points, met)
    fixed = np.full(len(names), np.nan)
    fixed[list(names).index(anchor[0]) if anchor else 0] = 0.0
    strengths, covariance = fit_strengths(points + 0.5 * met, fixed)
    if anchor is None:
        to_mean = np.eye(len(names)) - 1 / len(names)
        strengths, covariance = to_mean @ strengths, to_mean @ covariance @ to_mean
    elos = ELO_PER_NAT * strengths + (anchor[1] if anchor else 0.0)
    margins = ELO_PER_NAT * Z95 * np.sqrt(np.maximum(0, np.diag(covariance)))
    rows = zip(names, elos.tolist(), margins.tolist(), strict=True)
    return tuple(Rating(name, elo, elo - margin, elo + margin) for name, elo, margin in rows)


def _check_table(names: Sequence[str], points: NDArray[np.float64], met: NDArray[np.bool_]) -> None:
    count = len(names)
    if count < 2 or points.shape != (count, count) or (points < 0).any() or met.diagonal().any():
        raise ConfigError(
            f"expected points [{count}, {count}] for {count} players, at least 2 players, no number"
            f" below 0 and zeros on the diagonal; got shape {list(points.shape)}"
        )
    reached = np.linalg.matrix_power(met.astype(np.float64) + np.eye(count), count)[0] > 0
    if not reached.all():
        apart = ", ".join(name for name, met in zip(names, reached, strict=True) if not met)
        raise ConfigError(
            f"{apart} never met {names[0]} or its opponents; play a match between them"
        )
