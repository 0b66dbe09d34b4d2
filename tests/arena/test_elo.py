"""Elo compared with closed forms, other libraries and simulated matches."""

import runpy
from math import inf, isfinite, log10
from pathlib import Path

import choix
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from rookery.arena.rating.elo import (
    ELO_PER_NAT,
    elo_difference,
    elo_of_score,
    expected_score,
    wilson,
)
from rookery.base import ConfigError, generator

TOOLS = Path(__file__).parents[2] / "tools"
fit_ratings = runpy.run_path(str(TOOLS / "bradley_terry.py"))["fit_ratings"]


def test_ten_to_one_odds_are_four_hundred_points() -> None:
    assert elo_of_score(10 / 11) == pytest.approx(400)
    assert elo_of_score(0.5) == 0
    assert elo_of_score(0.75) == pytest.approx(400 * log10(3))


def test_expected_score_is_the_inverse_of_elo_of_score() -> None:
    differences = np.array([-900.0, -35.0, 0.0, 400.0])
    scores = expected_score(differences)
    assert scores[3] == pytest.approx(10 / 11)
    assert [elo_of_score(score) for score in scores] == pytest.approx(differences)
    assert [expected_score(each) for each in differences.tolist()] == pytest.approx(scores)


@pytest.mark.parametrize(("count", "number"), [(0, 7), (1, 10), (33, 60), (9, 9)])
def test_wilson_agrees_with_scipy(count: int, number: int) -> None:
    expected = stats.binomtest(count, number).proportion_ci(method="wilson")
    assert wilson(count / number, number) == pytest.approx((expected.low, expected.high))


def test_the_difference_of_many_pairs_has_a_closed_form() -> None:
    difference = elo_difference([1.0, 0.5] * 5000)
    assert difference.score == 0.75
    assert difference.elo == pytest.approx(400 * log10(3), abs=0.1)
    spread = 1.96 * 0.25 / 100  # 10000 pairs of standard deviation 0.25
    assert difference.low == pytest.approx(elo_of_score(0.75 - spread), abs=0.1)
    assert difference.high == pytest.approx(elo_of_score(0.75 + spread), abs=0.1)


def test_drawn_pairs_give_a_difference_of_0() -> None:
    difference = elo_difference([0.5] * 20)
    assert difference.elo == pytest.approx(0)
    assert difference.superiority == pytest.approx(0.5)
    assert difference.high == pytest.approx(-difference.low)
    assert 0 < difference.high < 40


def test_a_match_won_completely_is_bounded_below_only() -> None:
    won, lost = elo_difference([1.0] * 30), elo_difference([0.0] * 30)
    assert isfinite(won.elo) and isfinite(won.low) and won.high == inf
    assert 300 < won.low < won.elo
    assert (lost.elo, lost.high, lost.low) == pytest.approx((-won.elo, -won.low, -inf))
    assert won.superiority > 0.999 > 0.001 > lost.superiority


def test_one_won_pair_is_combined_with_half_a_pair_won_and_half_a_pair_lost() -> None:
    difference = elo_difference([1.0])
    assert difference.elo == pytest.approx(elo_of_score(0.75))
    assert difference.superiority == pytest.approx(stats.norm.cdf(0.25 / np.sqrt(0.75 * 0.25 / 2)))
    assert difference.low < 0


def test_drawn_pairs_give_a_narrower_interval_than_decisive_ones() -> None:
    drawn, decisive = elo_difference([0.5] * 100), elo_difference([1.0, 0.0] * 50)
    assert drawn.high - drawn.low < (decisive.high - decisive.low) / 4


def test_the_interval_covers_the_true_difference_in_95_percent_of_matches() -> None:
    stream = generator(7, "test of intervals")
    probabilities = [0.05, 0.15, 0.3, 0.3, 0.2]
    truth = elo_of_score(float(np.dot(probabilities, [0, 0.25, 0.5, 0.75, 1])))
    matches = stream.choice([0, 0.25, 0.5, 0.75, 1], p=probabilities, size=(2000, 40))
    held = [found.low <= truth <= found.high for found in map(elo_difference, matches)]
    assert 0.93 < np.mean(held) < 0.98


def test_a_match_without_pairs_is_an_error() -> None:
    with pytest.raises(ConfigError, match="at least 2 games"):
        elo_difference([])


def random_table() -> NDArray[np.float64]:
    points = generator(3, "table").integers(0, 40, size=(5, 5)) / 2
    np.fill_diagonal(points, 0)
    points[0, 4] = points[4, 0] = 0  # these two never met
    return points


def test_ratings_agree_with_choix() -> None:
    points = random_table()
    half = 0.5 * (points + points.T > 0)
    expected = ELO_PER_NAT * choix.ilsr_pairwise_dense(points + half, tol=1e-12)
    ratings = fit_ratings(list("abcde"), points)
    assert [rating.elo for rating in ratings] == pytest.approx(expected - expected.mean(), abs=1e-4)


def test_intervals_of_ratings_come_from_the_curvature() -> None:
    points = np.array([[0.0, 60.0], [20.0, 0.0]])
    first, second = fit_ratings(["a", "b"], points)
    score = 60.5 / 81
    assert first.elo - second.elo == pytest.approx(elo_of_score(score))
    deviation = ELO_PER_NAT / np.sqrt(81 * score * (1 - score))  # of the difference
    assert first.high - first.elo == pytest.approx(1.96 * deviation / 2, rel=1e-3)


def test_ratings_are_finite_if_one_player_won_every_game() -> None:
    first, second = fit_ratings(["a", "b"], np.array([[0.0, 1e6], [0.0, 0.0]]))
    assert first.elo - second.elo == pytest.approx(elo_of_score((1e6 + 0.5) / (1e6 + 1)))
    assert isfinite(first.low) and isfinite(first.high)


def test_players_without_a_common_opponent_cannot_be_rated() -> None:
    points = np.zeros((3, 3))
    points[0, 1] = 1
    with pytest.raises(ConfigError, match="c never met a"):
        fit_ratings(["a", "b", "c"], points)


def test_an_anchor_shifts_all_ratings_and_keeps_their_differences() -> None:
    points = np.array([[0, 3, 2], [7, 0, 4], [8, 6, 0]], np.float64)
    free, anchored = fit_ratings("abc", points), fit_ratings("abc", points, anchor=("b", 500.0))
    assert anchored[2].elo - anchored[0].elo == pytest.approx(free[2].elo - free[0].elo)
    assert anchored[1].elo == 500


@pytest.mark.parametrize(
    "points", [np.zeros((1, 1)), np.ones((2, 2)), np.array([[0.0, -1.0], [2.0, 0.0]])]
)
def test_a_malformed_table_of_points_is_an_error(points: NDArray[np.float64]) -> None:
    with pytest.raises(ConfigError, match="zeros on the diagonal"):
        fit_ratings("ab"[: len(points)], points)
