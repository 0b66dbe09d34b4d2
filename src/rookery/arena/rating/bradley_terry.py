"""Ratings of many players on one scale, by the model of Bradley and Terry.

The unit is a pair of games from one opening, with colours swapped; its score is the mean of the
two, with a draw as half a point. Every player that is not fixed gets one more pair, half of it won
and half of it lost, spread over its opponents in proportion to the pairs played. So ratings are
finite even if a player won or lost every game.

The 95 % intervals come from the curvature of the likelihood. Pairs with less variance than coin
flips of the same probabilities carry more information, as in `elo`: all variances are multiplied
by the ratio of the observed variance to that of coin flips, the added pairs included.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rookery.arena.match import pair_scores
from rookery.arena.pairs import MatchGame
from rookery.arena.rating.elo import ELO_PER_NAT, Z95
from rookery.arena.rating.estimate import RatingEstimate

Floats = NDArray[np.float64]
PAIR_SCORES = np.array([0, 0.25, 0.5, 0.75, 1])
TOLERANCE = 1e-6


@dataclass(frozen=True)
class PairResults:
    """The pairs of games that two players played against each other."""

    a: str
    b: str
    counts: tuple[int, ...]
    """Numbers of pairs in which a scored 0, 0.25, 0.5, 0.75 and 1."""

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return sum(self.counts)


def count_pairs(games: Sequence[MatchGame]) -> tuple[int, ...]:
    """Return how often a scored 0, 0.25, 0.5, 0.75 and 1; games 2n and 2n + 1 are a pair."""
    scores = np.rint(4 * np.array(pair_scores(games))).astype(np.intp)
    return tuple(np.bincount(scores, minlength=len(PAIR_SCORES)).tolist())


def rate_all(
    results: Iterable[PairResults], fixed: Mapping[str, float]
) -> dict[str, RatingEstimate]:
    """Return the ratings of all players, on the scale of those with `fixed` ratings.

    A player without a chain of opponents to a fixed one is left out.
    """
    played = [each for each in results if each.pairs and each.a != each.b]
    names = _connected(played, fixed)
    index = {name: number for number, name in enumerate(names)}
    scores = np.zeros((len(names), len(names), len(PAIR_SCORES)))
    for each in played:
        if each.a in index:
            a, b = index[each.a], index[each.b]
            scores[a, b] += each.counts
            scores[b, a] += each.counts[::-1]
    ratings = np.array([fixed.get(name, np.nan) for name in names]) / ELO_PER_NAT
    pairs = scores.sum(axis=2)
    added = _added_pairs(pairs, np.isnan(ratings))
    strengths, covariance = fit_strengths(scores @ PAIR_SCORES + added / 2, ratings)
    ratio = _variance_ratio(strengths, scores, added)
    margins = Z95 * np.sqrt(ratio * np.maximum(0, np.diag(covariance)))
    rows = zip(names, (ELO_PER_NAT * strengths).tolist(), margins.tolist(), strict=True)
    return {
        name: RatingEstimate(elo, elo - ELO_PER_NAT * margin, elo + ELO_PER_NAT * margin)
        for name, elo, margin in rows
    }


def fit_strengths(points: Floats, fixed: Floats) -> tuple[Floats, Floats]:
    """Return log strengths [K] and their covariance [K, K] from points [K, K], row against column.

    `fixed` [K] has the strengths that are known, and NaN for the others, each of which must have a
    chain of opponents to a known one and points on both sides. Newton's method: a step changes no
    difference of opponents by more than 1, so the curvature grows by a factor of e at most, and the
    likelihood increases with every step.
    """
    games, is_free = points + points.T, np.isnan(fixed)
    strengths = np.where(is_free, fixed[~is_free].sum() / max(1, (~is_free).sum()), fixed)
    among_free = np.ix_(is_free, is_free)
    step, (a, b) = np.where(is_free, np.inf, 0.0), np.nonzero(games)
    while np.abs(step).max(initial=0.0) >= TOLERANCE:
        expected = expected_points(strengths)
        gradient = (points - games * expected).sum(axis=1)
        curvature = _curvature(games, expected)[among_free]
        step[is_free] = np.linalg.solve(curvature, gradient[is_free])
        strengths = strengths + step / max(1.0, float(np.abs(step[a] - step[b]).max()))
    covariance = np.zeros_like(points)
    curvature = _curvature(games, expected_points(strengths))
    covariance[among_free] = np.linalg.inv(curvature[among_free])
    return strengths, covariance


def _curvature(games: Floats, expected: Floats) -> Floats:
    """Return the negated second derivatives [K, K] of the log likelihood."""
    information = games * expected * expected.T
    curvature: Floats = np.diag(information.sum(axis=1)) - information
    return curvature


def expected_points(strengths: Floats) -> Floats:
    """Return the share of the points [K, K] that each player expects against each other one."""
    points: Floats = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    return points


def _connected(played: Sequence[PairResults], fixed: Mapping[str, float]) -> list[str]:
    """Return the players with a chain of opponents to a fixed one, in the order they appear."""
    names = dict.fromkeys(name for each in played for name in (each.a, each.b))
    reached = names.keys() & fixed.keys()
    before = -1
    while len(reached) > before:
        before = len(reached)
        for each in played:
            if reached & {each.a, each.b}:
                reached |= {each.a, each.b}
    return [name for name in names if name in reached]


def _added_pairs(pairs: Floats, is_free: NDArray[np.bool_]) -> Floats:
    """Return the added pairs [K, K] of any two players, from the `pairs` [K, K] they played."""
    shares = pairs / np.maximum(1.0, pairs.sum(axis=1, keepdims=True)) * is_free[:, None]
    added: Floats = shares + shares.T
    return added


def _variance_ratio(strengths: Floats, scores: Floats, added: Floats) -> float:
    """Return the variance of the pairs relative to coin flips, the added pairs included."""
    expected = expected_points(strengths)
    deviations = (PAIR_SCORES - expected[:, :, None]) ** 2
    of_added = (expected**2 + (1 - expected) ** 2) / 2
    observed = (scores * deviations).sum() + (added * of_added).sum()
    flips = ((scores.sum(axis=2) + added) * expected * (1 - expected)).sum()
    return float(observed / flips) if flips else 1.0
