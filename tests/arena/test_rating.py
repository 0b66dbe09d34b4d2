"""Ratings of players of known strength, in simulations and in games."""

import runpy
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rookery.arena import (
    MinimaxPlayer,
    RandomPlayer,
    RatingEstimate,
    RatingPlan,
    load_ladder,
    rate_player,
)
from rookery.arena.match import pair_scores
from rookery.arena.rating.elo import elo_difference, expected_score
from rookery.arena.rating.estimate import estimate_rating, next_rung
from rookery.arena.rating.ladder import Ladder, Rung
from rookery.base import ConfigError, UnknownName, generator
from rookery.games import load_game

ELOS = [-300.0, 0.0, 250.0, 500.0, 800.0, 1100.0, 1350.0, 1500.0, 1800.0]
TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools/bradley_terry.py"))
TICTACTOE = load_game("tictactoe")
LADDER = Ladder(
    "small",
    "tictactoe",
    (Rung("random", 0, -10, 10, 100), Rung("minimax:1", 100, 90, 110, 100)),
)


def play_pairs(
    truth: float, opponent: float, count: int, stream: np.random.Generator
) -> NDArray[np.float64]:
    """Return simulated scores of pairs; up to 30 % of the games are drawn."""
    score = expected_score(truth - opponent)
    drawn = min(0.3, 2 * min(score, 1 - score))
    probabilities = [1 - score - drawn / 2, drawn, score - drawn / 2]
    points = stream.choice([0, 0.5, 1], p=np.maximum(probabilities, 0), size=(count, 2))
    means: NDArray[np.float64] = points.mean(axis=1)
    return means


@dataclass(frozen=True)
class Simulated:
    """A simulated rating of a player of known strength."""

    truth: float
    estimate: RatingEstimate
    assigned: list[int]


def simulate(truth: float, seed: int, pairs: int = 80) -> Simulated:
    """Rate a player in simulated pairs, 16 of them in flight."""
    stream = generator(seed + 500, "test of ladders")
    met, scores, assigned, in_flight = list[int](), list[float](), [0] * len(ELOS), list[int]()
    while len(scores) < pairs:
        while len(in_flight) < 16 and sum(assigned) < pairs:
            estimate = estimate_rating(ELOS, met, scores) if len(scores) >= len(ELOS) / 2 else None
            in_flight.append(next_rung(ELOS, assigned, estimate))
            assigned[in_flight[-1]] += 1
        met.append(in_flight.pop(int(stream.integers(len(in_flight)))))
        scores.append(float(play_pairs(truth, ELOS[met[-1]], 1, stream)[0]))
    return Simulated(truth, estimate_rating(ELOS, met, scores), assigned)


@pytest.mark.parametrize("truth", [-250.0, 620.0, 1420.0])
def test_a_player_of_known_strength_is_rated_within_its_interval(truth: float) -> None:
    rated = [simulate(truth, seed) for seed in range(12)]
    covered = [each.estimate.low <= truth <= each.estimate.high for each in rated]
    assert sum(covered) >= 10
    assert abs(np.mean([each.estimate.elo for each in rated]) - truth) < 25
    assert np.mean([each.estimate.width for each in rated]) < 150


def test_most_pairs_are_played_against_the_nearest_rungs() -> None:
    assigned = simulate(620.0, 1).assigned
    assert sum(assigned[3:5]) > 40
    assert all(count >= 1 for count in assigned)


def test_one_opponent_gives_the_elo_difference_of_a_match() -> None:
    scores = [1.0, 0.5, 0.5, 0.75, 0.0, 1.0, 0.5, 0.25] * 5
    estimate, expected = estimate_rating([1000.0], [0] * 40, scores), elo_difference(scores)
    assert estimate.elo - 1000 == pytest.approx(expected.elo, abs=1)
    assert estimate.low - 1000 == pytest.approx(expected.low, abs=6)
    assert estimate.high - 1000 == pytest.approx(expected.high, abs=6)


def test_the_interval_is_unbounded_if_every_game_had_the_same_result() -> None:
    lost = estimate_rating(ELOS, [0] * 8, [0.0] * 8)
    won = estimate_rating(ELOS, [8] * 8, [1.0] * 8)
    assert lost.low == -inf and lost.elo < -300 and lost.high < 0
    assert won.high == inf and won.elo > 1800 and won.low > 1500


def test_the_scale_is_recovered_from_matches_between_neighbours() -> None:
    stream, count = generator(4, "scale"), len(ELOS)
    points = np.zeros((count, count))
    for a in range(count):
        for b in range(a + 1, min(a + 3, count)):
            won = 2 * play_pairs(ELOS[a], ELOS[b], 150, stream).sum()
            points[a, b], points[b, a] = won, 300 - won
    names = [str(elo) for elo in ELOS]
    ratings = TOOL["fit_ratings"](names, points, anchor=("1350.0", 1350.0))
    assert ratings[6].elo == ratings[6].low == ratings[6].high == pytest.approx(1350)
    covered = [each.low <= truth <= each.high for each, truth in zip(ratings, ELOS, strict=True)]
    assert sum(covered) >= len(ELOS) - 1
    widths = [each.high - each.low for each in ratings]
    assert widths[0] > widths[3] > widths[5] > 0


def test_the_report_counts_the_games_that_were_played() -> None:
    player = MinimaxPlayer(TICTACTOE, 4, seed=3)
    finished = list[int]()
    report = rate_player(
        TICTACTOE,
        player,
        LADDER,
        plan=RatingPlan(games=40, at_once=8, seed=2),
        callback=lambda done, _: finished.append(done),
    )
    assert sum(row.counts.games for row in report.rows) == len(report.games) == 40
    assert report.estimate.elo > 50 and report.estimate.low <= report.estimate.elo
    assert finished == sorted(finished) and finished[-1] == 40 and report.faults == []
    assert 1 < report.distinct_games <= 40
    for one, other in zip(report.games[::2], report.games[1::2], strict=True):
        assert one.rung == other.rung and one.game.opening == other.game.opening
        assert one.game.a_first and not other.game.a_first
    for row in report.rows:
        results = [each.game.result for each in report.games if each.rung == row.rung.player]
        assert row.counts.wins == results.count(1) and row.counts.losses == results.count(-1)


def test_no_pair_starts_once_the_interval_is_narrow_enough() -> None:
    widths = dict[int, float]()
    plan = RatingPlan(games=400, width=400.0, at_once=8)
    report = rate_player(
        TICTACTOE,
        RandomPlayer(TICTACTOE, 5),
        LADDER,
        plan=plan,
        callback=lambda done, estimate: widths.update({done: estimate.width}),
    )
    narrow = min(done for done, width in widths.items() if width <= 400)
    assert 2 < narrow <= len(report.games) <= narrow + plan.at_once


def test_the_games_of_a_rating_replay_to_their_results() -> None:
    report = rate_player(TICTACTOE, RandomPlayer(TICTACTOE, 5), LADDER, plan=RatingPlan(games=20))
    for each in report.games:
        state = TICTACTOE.replay(each.game.opening + each.game.moves)
        a_to_move = (len(each.game.opening + each.game.moves) % 2 == 0) == each.game.a_first
        outcome = TICTACTOE.rules.outcome(state)
        assert each.game.result == (outcome if a_to_move else -outcome)


def test_an_interrupted_rating_reports_the_finished_pairs() -> None:
    def interrupt(done: int, _: RatingEstimate) -> None:
        finished.append(done)
        if done >= 10:
            raise KeyboardInterrupt

    finished, plan = list[int](), RatingPlan(games=400, at_once=8)
    report = rate_player(
        TICTACTOE, RandomPlayer(TICTACTOE, 5), LADDER, plan=plan, callback=interrupt
    )
    assert report.was_interrupted and len(report.games) == finished[-1] < 20
    assert report.estimate == estimate_rating(
        [rung.elo for rung in LADDER.rungs],
        [LADDER.rungs[0].player != each.rung for each in report.games[::2]],
        pair_scores([each.game for each in report.games]),
    )


def test_an_interrupt_before_the_first_finished_pair_is_raised() -> None:
    class Interrupted(RandomPlayer):
        def choose(self, *_: object) -> NDArray[np.int32]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rate_player(TICTACTOE, Interrupted(TICTACTOE, 5), LADDER, plan=RatingPlan(games=20))


@pytest.mark.parametrize("games", [0, 1, 7])
def test_the_number_of_games_must_be_even(games: int) -> None:
    with pytest.raises(ConfigError, match="even"):
        RatingPlan(games=games)


def test_the_chess_ladder_is_one_scale() -> None:
    ladder = load_ladder("stockfish")
    elos = [rung.elo for rung in ladder.rungs]
    assert elos == sorted(elos) and ladder.rungs[0].player == "random"
    anchor = next(rung for rung in ladder.rungs if rung.player == "stockfish:1350")
    assert anchor.elo == anchor.low == anchor.high == 1350
    assert all(rung.low <= rung.elo <= rung.high and rung.games >= 40 for rung in ladder.rungs)
    assert max(np.diff(elos)) < 450


def test_a_ladder_is_refused_for_another_game_or_an_unknown_name() -> None:
    with pytest.raises(ConfigError, match="is for chess, not tictactoe"):
        load_ladder("stockfish").check(TICTACTOE)
    with pytest.raises(UnknownName, match="stockfish"):
        load_ladder("stokfish")
    with pytest.raises(UnknownName, match="did you mean minimax"):
        load_ladder("stockfish").only(["minimax:9"])


def test_a_missing_engine_suggests_the_rungs_without_engines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rookery.arena.players.engine_spec.FOLDERS", "")
    monkeypatch.setenv("PATH", "")
    ladder = load_ladder("stockfish")
    with pytest.raises(ConfigError, match=r"apt install .*--rungs random,minimax:1,minimax:2"):
        ladder.check(load_game("chess"))
    ladder.only(["random", "minimax:1"]).check(load_game("chess"))
