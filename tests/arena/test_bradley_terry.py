"""Ratings of many players on one scale, from simulated games between players of known strength."""

from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
import pytest

from rookery.arena import MatchGame, PairResults, RatingEstimate, count_pairs, rate_all
from rookery.arena.rating.elo import elo_of_score, expected_score
from rookery.base import generator

ANCHORS = {"random": 0.0, "minimax:1": 150.0}
TRUTH = {**ANCHORS, **{str(number): 60.0 * number for number in range(10)}}


def play(a: str, b: str, pairs: int, stream: np.random.Generator) -> PairResults:
    """Return simulated pairs of games; up to 30 % of the games are drawn."""
    score = expected_score(TRUTH[a] - TRUTH[b])
    drawn = min(0.3, 2 * min(score, 1 - score))
    probabilities = np.maximum([1 - score - drawn / 2, drawn, score - drawn / 2], 0)
    points = stream.choice([0, 1, 2], p=probabilities / probabilities.sum(), size=(pairs, 2))
    return PairResults(a, b, tuple(np.bincount(points.sum(axis=1), minlength=5).tolist()))


def history(seed: int, pairs: int = 8) -> list[PairResults]:
    """Return the games of networks against the one before, one of half the age and anchors."""
    stream, results = generator(seed, "test of scales"), []
    for number in range(10):
        opponents = {str(max(0, number - 1)), str(number // 2), *ANCHORS} - {str(number)}
        results += [play(str(number), other, pairs, stream) for other in sorted(opponents)]
    return results


@pytest.mark.parametrize("fixed", [{"random": 0.0}, ANCHORS])
def test_known_ratings_are_within_the_interval_in_95_percent_of_histories(
    fixed: dict[str, float],
) -> None:
    rated = [rate_all(history(seed), fixed) for seed in range(60)]
    free = [name for name in TRUTH if name not in fixed]
    covered = [each[name].low <= TRUTH[name] <= each[name].high for each in rated for name in free]
    assert 0.93 < np.mean(covered) < 0.98
    errors = [each["9"].elo - TRUTH["9"] for each in rated]
    assert abs(np.mean(errors)) < 40 and np.std(errors) < 110


def test_fixed_players_keep_their_rating() -> None:
    rated = rate_all(history(1), ANCHORS)
    assert rated["random"] == RatingEstimate(0.0, 0.0, 0.0)
    assert rated["minimax:1"].elo == rated["minimax:1"].low == pytest.approx(150)


def test_more_games_give_a_narrower_interval() -> None:
    few, many = (rate_all(history(2, pairs), ANCHORS)["9"].width for pairs in (4, 100))
    assert many < few / 3


def test_a_chain_of_perfect_scores_is_finite_and_in_order() -> None:
    names = ["random", *map(str, range(20))]
    results = [PairResults(b, a, (0, 0, 0, 0, 8)) for a, b in pairwise(names)]
    rated = rate_all(results, {"random": 0.0})
    elos = [rated[name].elo for name in names]
    assert elos == sorted(elos) and all(isfinite(elo) for elo in elos)
    assert all(rated[b].elo - rated[a].elo > 300 for a, b in pairwise(names))
    assert rated["0"].low < 300 < rated["0"].high  # eight pairs do not prove more
    widths = [rated[name].width for name in names]
    assert widths == sorted(widths) and all(isfinite(width) for width in widths)


def test_a_long_chain_is_fitted_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, solve = list[int](), np.linalg.solve

    def counted(*arrays: Any) -> Any:
        steps.append(1)
        return solve(*arrays)

    monkeypatch.setattr(np.linalg, "solve", counted)
    results = [PairResults(str(n + 1), str(n), (0, 1, 2, 3, 4)) for n in range(60)]
    rated = rate_all([*results, PairResults("0", "random", (0, 0, 0, 0, 9))], {"random": 0.0})
    assert rated["60"].elo > 5000 and len(steps) < 20


def test_a_player_that_lost_every_game_is_rated_below_its_opponents() -> None:
    rated = rate_all([PairResults("0", name, (20, 0, 0, 0, 0)) for name in ANCHORS], ANCHORS)
    assert isfinite(rated["0"].low) and rated["0"].high < 0


def test_the_added_pair_is_one_drawn_pair() -> None:
    rated = rate_all([PairResults("a", "random", (0, 0, 0, 0, 9))], {"random": 0.0})
    assert rated["a"].elo == pytest.approx(elo_of_score(9.5 / 10))


def test_drawn_pairs_carry_more_information_than_won_and_lost_ones() -> None:
    drawn, decisive = (
        rate_all([PairResults("a", "random", counts)], {"random": 0.0})["a"]
        for counts in ((0, 0, 100, 0, 0), (50, 0, 0, 0, 50))
    )
    assert drawn.elo == pytest.approx(0, abs=1e-6) and decisive.elo == pytest.approx(0, abs=1e-6)
    assert drawn.width < decisive.width / 4


def test_players_without_a_chain_of_opponents_to_the_scale_are_left_out() -> None:
    results = [PairResults("a", "random", (1, 0, 0, 0, 1)), PairResults("b", "c", (1, 0, 0, 0, 1))]
    assert list(rate_all(results, {"random": 0.0})) == ["a", "random"]
    assert rate_all([], {"random": 0.0}) == {}
    assert rate_all([PairResults("a", "random", (0,) * 5)], {"random": 0.0}) == {}


def test_pairs_are_counted_by_their_score() -> None:
    results = [1, 1, 1, -1, 0, 1, -1, -1, 0, -1]
    games = [MatchGame((), (), number % 2 == 0, result) for number, result in enumerate(results)]
    assert count_pairs(games) == (1, 1, 1, 1, 1)
