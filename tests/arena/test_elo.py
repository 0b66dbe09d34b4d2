"""Elo against closed forms, an outside library and simulated matches."""

from math import inf, isfinite, log10

import choix
import numpy as np
import pytest
from scipy import stats

from rookery.arena.rating.elo import ELO_PER_NAT, compare, elo_of_score, rate
from rookery.arena.rating.interval import wilson
from rookery.base import ConfigError, generator


def test_ten_to_one_odds_are_four_hundred_points() -> None:
    assert elo_of_score(10 / 11) == pytest.approx(400)
    assert elo_of_score(0.5) == 0
    assert elo_of_score(0.75) == pytest.approx(400 * log10(3))


@pytest.mark.parametrize(("count", "number"), [(0, 7), (1, 10), (33, 60), (9, 9)])
def test_wilson_agrees_with_scipy(count: int, number: int) -> None:
    truth = stats.binomtest(count, number).proportion_ci(method="wilson")
    assert wilson(count / number, number) == pytest.approx((truth.low, truth.high))


def test_difference_of_many_pairs_is_the_closed_form() -> None:
    difference = compare([1.0, 0.5] * 5000)
    assert difference.score == 0.75
    assert difference.elo == pytest.approx(400 * log10(3), abs=0.1)
    spread = 1.96 * 0.25 / 100  # 10000 pairs of standard deviation 0.25
    assert difference.low == pytest.approx(elo_of_score(0.75 - spread), abs=0.1)
    assert difference.high == pytest.approx(elo_of_score(0.75 + spread), abs=0.1)


def test_equal_players_differ_by_nothing() -> None:
    difference = compare([0.5] * 20)
    assert difference.elo == pytest.approx(0)
    assert difference.superiority == pytest.approx(0.5)
    assert -40 < difference.low < 0 < difference.high < 40


def test_all_won_is_bounded_below_only() -> None:
    won, lost = compare([1.0] * 30), compare([0.0] * 30)
    assert isfinite(won.elo) and isfinite(won.low) and won.high == inf
    assert 300 < won.low < won.elo
    assert (lost.elo, lost.high, lost.low) == pytest.approx((-won.elo, -won.low, -inf))
    assert won.superiority > 0.999 > 0.001 > lost.superiority


def test_one_pair_proves_little() -> None:
    difference = compare([1.0])
    assert difference.low < 0
    assert difference.superiority < 0.9


def test_pairs_that_cancel_out_tell_more_than_pairs_that_do_not() -> None:
    steady, wild = compare([0.5] * 100), compare([1.0, 0.0] * 50)
    assert steady.high - steady.low < (wild.high - wild.low) / 4


def test_interval_holds_the_truth_nineteen_times_in_twenty() -> None:
    stream = generator(7, "test of intervals")
    chances = [0.05, 0.15, 0.3, 0.3, 0.2]
    truth = elo_of_score(float(np.dot(chances, [0, 0.25, 0.5, 0.75, 1])))
    matches = stream.choice([0, 0.25, 0.5, 0.75, 1], p=chances, size=(2000, 40))
    held = [found.low <= truth <= found.high for found in map(compare, matches)]
    assert 0.93 < np.mean(held) < 0.98


def test_no_pairs_are_an_error() -> None:
    with pytest.raises(ConfigError, match="at least 2 games"):
        compare([])


def random_table() -> np.ndarray:
    points = generator(3, "table").integers(0, 40, size=(5, 5)) / 2
    np.fill_diagonal(points, 0)
    points[0, 4] = points[4, 0] = 0  # these two never met
    return points


def test_ratings_agree_with_choix() -> None:
    points = random_table()
    half = 0.5 * (points + points.T > 0)
    truth = ELO_PER_NAT * choix.ilsr_pairwise_dense(points + half, tol=1e-12)
    ratings = rate(list("abcde"), points)
    assert [rating.elo for rating in ratings] == pytest.approx(truth - truth.mean(), abs=1e-4)


def test_intervals_of_ratings_come_from_the_curvature() -> None:
    points = np.array([[0.0, 60.0], [20.0, 0.0]])
    first, second = rate(["a", "b"], points)
    share = 60.5 / 81
    assert first.elo - second.elo == pytest.approx(elo_of_score(share))
    deviation = ELO_PER_NAT / np.sqrt(81 * share * (1 - share))  # of the difference
    assert first.high - first.elo == pytest.approx(1.96 * deviation / 2, rel=1e-3)


def test_ratings_stay_finite_for_a_player_who_won_everything() -> None:
    ratings = rate(["king", "pawn"], np.array([[0.0, 1e6], [0.0, 0.0]]))
    assert all(isfinite(rating.low) and isfinite(rating.high) for rating in ratings)
    assert ratings[0].elo > 1000


def test_players_who_never_met_cannot_be_compared() -> None:
    points = np.zeros((3, 3))
    points[0, 1] = 1
    with pytest.raises(ConfigError, match="c never met a"):
        rate(["a", "b", "c"], points)
