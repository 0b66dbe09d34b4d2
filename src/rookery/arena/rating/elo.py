"""Strength on the Elo scale: of two players from pairs of games, of many from a table.

Two games from one opening, colours swapped, are not independent: the pair is the unit. Its
score is the mean of its two games, 0 to 1. Half a pair won and half a pair lost are added to what
was played, so that the estimate and the spread stay finite when every game went the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erf, exp, inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from rookery.arena.rating.interval import Z95, wilson
from rookery.base import ConfigError

ELO_PER_NAT = 400 / log(10)
"""Elo is the log of the odds, 400 points a factor of ten."""


@dataclass(frozen=True)
class EloDifference:
    """How much stronger a is than b."""

    score: float
    """The share of the points that a won, as played."""
    score_low: float
    score_high: float
    """The 95 % interval of that share."""
    elo: float
    """The difference, with the added pair; always finite."""
    low: float
    """Lower end of the 95 % interval; -inf where a lost every game."""
    high: float
    """Upper end; inf where a won every game."""
    superiority: float
    """Likelihood of superiority: the probability that a is the stronger one."""


@dataclass(frozen=True)
class Rating:
    """One player among several; the mean of all is 0, or one of them is held fast."""

    name: str
    elo: float
    low: float
    high: float
    """The 95 % interval of `elo`."""


def expected_score(difference: float) -> float:
    """The share of the points that a player gets who is stronger by so much Elo."""
    return 1 / (1 + exp(-difference / ELO_PER_NAT))


def elo_of_score(score: float) -> float:
    """The Elo difference at which `score` is expected."""
    if score <= 0 or score >= 1:
        return -inf if score <= 0 else inf
    return ELO_PER_NAT * log(score / (1 - score))


def compare(pair_scores: Sequence[float]) -> EloDifference:
    """The difference between two players from a's score in each pair of games.

    The interval is Wilson's, with the number of pairs divided by how much they vary beside coin
    flips of the same mean: drawn pairs tell more than pairs won and lost.
    """
    scores = np.asarray(pair_scores, np.float64)
    if not len(scores):
        raise ConfigError("no pair of games was played; play at least 2 games")
    number, mean = len(scores), float(scores.mean())
    values = np.append(scores, [1.0, 0.0])
    weights = np.append(np.ones(number), [0.5, 0.5])
    centre = float(np.average(values, weights=weights))
    variance = float(np.average((values - centre) ** 2, weights=weights))
    low, high = wilson(mean, number * centre * (1 - centre) / variance)
    deviations = (centre - 0.5) / sqrt(variance / (number + 1))
    return EloDifference(
        score=mean,
        score_low=low,
        score_high=high,
        elo=elo_of_score(centre),
        low=elo_of_score(low),
        high=elo_of_score(high),
        superiority=0.5 * (1 + erf(deviations / sqrt(2))),
    )


def rate(
    names: Sequence[str],
    points: NDArray[np.float64],
    *,
    anchor: tuple[str, float] | None = None,
) -> tuple[Rating, ...]:
    """Bradley-Terry ratings from points [K, K], what row won against column, a draw half each.

    Half a point is added either way between any two that met. The intervals come from the
    curvature of the likelihood; where many games are drawn they are wider than need be. `anchor`
    is the player that has a given rating: the intervals of the others say how far they
    may be from it.
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
    """Log strengths [K] of mean 0 and their covariance [K, K], by Newton's method.

    Only differences count, so that the curvature is flat along (1, ..., 1): the
    pseudo-inverse leaves that direction alone, which keeps the mean at 0. No step changes a
    difference by more than 1: within that the curvature at most grows by a factor of e,
    and every step climbs.
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
            f"a table of points for {count} players is [{count}, {count}], 2 players or more, none"
            f" below 0 and empty on its diagonal; got {list(points.shape)}"
        )
    reached = np.linalg.matrix_power(met.astype(np.float64) + np.eye(count), count)[0] > 0
    if not reached.all():
        apart = ", ".join(name for name, near in zip(names, reached, strict=True) if not near)
        raise ConfigError(f"{apart} never met {names[0]} or its opponents; play a match between")
