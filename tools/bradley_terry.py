"""Ratings of many players from a table of their results, by the model of Bradley and Terry."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    strengths, covariance = _fit(points + 0.5 * met)
    variances, shift = np.diag(covariance), 0.0
    if anchor is not None:
        fixed = list(names).index(anchor[0])
        variances = variances - 2 * covariance[fixed] + covariance[fixed, fixed]
        shift = anchor[1] - ELO_PER_NAT * float(strengths[fixed])
    elos = ELO_PER_NAT * strengths + shift
    margins = ELO_PER_NAT * Z95 * np.sqrt(np.maximum(0, variances))
    rows = zip(names, elos.tolist(), margins.tolist(), strict=True)
    return tuple(Rating(name, elo, elo - margin, elo + margin) for name, elo, margin in rows)


def _fit(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log strengths [K] of mean 0 and their covariance [K, K], by Newton's method.

    The likelihood depends on differences alone, so its curvature along (1, ..., 1) is 0. The
    pseudo-inverse ignores that direction, which keeps the mean at 0. A step changes no difference
    by more than 1: the curvature then grows by a factor of e at most, and the likelihood
    increases with every step.
    """
    games = points + points.T
    strengths = np.zeros(len(points))
    while True:
        expected = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
        gradient = (points - games * expected).sum(axis=1)
        information = games * expected * expected.T
        curvature = np.diag(information.sum(axis=1)) - information
        covariance = np.linalg.pinv(curvature, hermitian=True).astype(np.float64)
        step = covariance @ gradient
        strengths = strengths + step / max(1.0, float(np.ptp(step)))
        if np.abs(step).max() < 1e-6:
            return strengths, covariance


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
