"""Elo: the difference of two players from pairs of games.

The two games from one opening, with colours swapped, are not independent. So the unit is the pair;
its score is the mean of its two games, from 0 to 1. Half a pair won and half a pair lost are added
to the results, so that the estimate and its variance stay finite if all games had the same result.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erf, inf, log, sqrt
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rookery.base import ConfigError

ELO_PER_NAT = 400 / log(10)
"""Elo points per unit of log odds: 400 points are odds of ten to one."""
Z95 = 1.959963984540054
"""Half width of the central 95 % of the standard normal distribution."""

Number = TypeVar("Number", float, NDArray[np.float64])


@dataclass(frozen=True)
class EloDifference:
    """The Elo difference of player a over player b."""

    score: float
    """Fraction of the points that a won."""
    score_low: float
    score_high: float
    """The 95 % interval of `score`."""
    elo: float
    """The difference, with the added pair; it is always finite."""
    low: float
    """Lower end of the 95 % interval; -inf if a lost every game."""
    high: float
    """Upper end of the 95 % interval; inf if a won every game."""
    superiority: float
    """Likelihood of superiority: the probability that a is stronger than b."""


def expected_score(difference: Number) -> Number:
    """Return the fraction of the points expected at an Elo difference."""
    score: Number = 1 / (1 + np.exp(-difference / ELO_PER_NAT))
    return score


def elo_of_score(score: float) -> float:
    """Return the Elo difference at which `score` is expected."""
    if score <= 0 or score >= 1:
        return -inf if score <= 0 else inf
    return ELO_PER_NAT * log(score / (1 - score))


def wilson(proportion: float, trials: float) -> tuple[float, float]:
    """Return the 95 % interval of an observed proportion (Wilson 1927), within 0 to 1.

    Unlike the normal interval it has a width even if all trials had the same result. `trials`
    need not be an integer: trials with less variance than coin flips count for more.
    """
    weight = Z95 * Z95 / trials
    centre = (proportion + weight / 2) / (1 + weight)
    variance = proportion * (1 - proportion) / trials + weight / trials / 4
    half_width = Z95 / (1 + weight) * sqrt(variance)
    low = 0.0 if proportion <= 0 else max(0.0, centre - half_width)
    high = 1.0 if proportion >= 1 else min(1.0, centre + half_width)
    return low, high


def elo_difference(pair_scores: Sequence[float]) -> EloDifference:
    """Return the difference of two players from the score of a in each pair of games.

    The interval is Wilson's. The number of trials is the number of pairs, divided by the ratio of
    their variance to that of coin flips with the same mean: drawn pairs carry more information
    than pairs won and lost.
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
