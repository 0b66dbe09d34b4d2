"""Ladders: scales recovered from games, players of known strength placed on them."""

from dataclasses import dataclass
from math import inf

import numpy as np
import pytest
from numpy.typing import NDArray

from rookery.arena import (
    Ladder,
    RatingPlan,
    Rung,
    compare,
    expected_score,
    load_ladder,
    rate,
    rate_player,
)
from rookery.arena.book import book_openings, has_book
from rookery.arena.rating.estimate import RatingEstimate, next_rung, place
from rookery.base import ConfigError, UnknownName, generator
from rookery.games import load_game

ELOS = [-300.0, 0.0, 250.0, 500.0, 800.0, 1100.0, 1350.0, 1500.0, 1800.0]
TICTACTOE = load_game("tictactoe")
PLAIN = Ladder(
    "plain",
    "tictactoe",
    (Rung("random", 0, -10, 10, 100), Rung("minimax:1", 100, 90, 110, 100)),
)


def play_pairs(
    truth: float, opponent: float, count: int, stream: np.random.Generator
) -> NDArray[np.float64]:
    """Scores of pairs of games in which three of ten are drawn, as far as strengths allow."""
    share = expected_score(truth - opponent)
    drawn = min(0.3, 2 * min(share, 1 - share))
    chances = [1 - share - drawn / 2, drawn, share - drawn / 2]
    points = stream.choice([0, 0.5, 1], p=np.maximum(chances, 0), size=(count, 2))
    return points.mean(axis=1).astype(np.float64)


@dataclass(frozen=True)
class Simulated:
    """A rating of somebody whose strength is known."""

    truth: float
    found: RatingEstimate
    assigned: list[int]


def simulate(truth: float, seed: int, pairs: int = 80) -> Simulated:
    """Climb without games, 16 pairs at a time under way."""
    stream = generator(seed + 500, "test of ladders")
    met, scores, assigned, under_way = list[int](), list[float](), [0] * len(ELOS), list[int]()
    while len(scores) < pairs:
        while len(under_way) < 16 and sum(assigned) < pairs:
            where = place(ELOS, met, scores) if len(scores) >= len(ELOS) / 2 else None
            under_way.append(next_rung(ELOS, assigned, where))
            assigned[under_way[-1]] += 1
        met.append(under_way.pop(int(stream.integers(len(under_way)))))
        scores.append(float(play_pairs(truth, ELOS[met[-1]], 1, stream)[0]))
    return Simulated(truth, place(ELOS, met, scores), assigned)


@pytest.mark.parametrize("truth", [-250.0, 620.0, 1420.0])
def test_a_player_of_known_strength_is_rated_within_its_interval(truth: float) -> None:
    rated = [simulate(truth, seed) for seed in range(12)]
    held = [each.found.low <= truth <= each.found.high for each in rated]
    assert sum(held) >= 10
    assert abs(np.mean([each.found.elo for each in rated]) - truth) < 25
    assert np.mean([each.found.width for each in rated]) < 150


def test_most_games_are_played_near_the_player() -> None:
    assigned = simulate(620.0, 1).assigned
    assert sum(assigned[3:5]) > 40
    assert all(count >= 1 for count in assigned)


def test_one_opponent_gives_the_difference_that_matches_give() -> None:
    scores = [1.0, 0.5, 0.5, 0.75, 0.0, 1.0, 0.5, 0.25] * 5
    found, truth = place([1000.0], [0] * 40, scores), compare(scores)
    assert found.elo - 1000 == pytest.approx(truth.elo, abs=1)
    assert found.low - 1000 == pytest.approx(truth.low, abs=6)
    assert found.high - 1000 == pytest.approx(truth.high, abs=6)


def test_all_lost_is_open_below_and_all_won_above() -> None:
    lost, won = place(ELOS, [0] * 8, [0.0] * 8), place(ELOS, [8] * 8, [1.0] * 8)
    assert lost.low == -inf and lost.elo < -300 and lost.high < 0
    assert won.high == inf and won.elo > 1800 and won.low > 1500


def test_the_scale_is_recovered_from_matches_of_neighbours() -> None:
    stream, count = generator(4, "scale"), len(ELOS)
    points = np.zeros((count, count))
    for a in range(count):
        for b in range(a + 1, min(a + 3, count)):
            won = 2 * play_pairs(ELOS[a], ELOS[b], 150, stream).sum()
            points[a, b], points[b, a] = won, 300 - won
    names = [str(elo) for elo in ELOS]
    ratings = rate(names, points, anchor=("1350.0", 1350.0))
    assert ratings[6].elo == ratings[6].low == ratings[6].high == pytest.approx(1350)
    held = [each.low <= truth <= each.high for each, truth in zip(ratings, ELOS, strict=True)]
    assert sum(held) >= len(ELOS) - 1
    widths = [each.high - each.low for each in ratings]
    assert widths[0] > widths[3] > widths[5] > 0


def test_an_anchor_moves_the_scale_and_no_difference() -> None:
    points = np.array([[0, 3, 2], [7, 0, 4], [8, 6, 0]], np.float64)
    free, held = rate("abc", points), rate("abc", points, anchor=("b", 500.0))
    assert held[2].elo - held[0].elo == pytest.approx(free[2].elo - free[0].elo)
    assert held[1].elo == 500


def test_a_climb_counts_what_was_played() -> None:
    from rookery.arena import MinimaxPlayer

    player = MinimaxPlayer(TICTACTOE, 4, seed=3)
    told = list[int]()
    report = rate_player(
        TICTACTOE,
        player,
        PLAIN,
        plan=RatingPlan(games=40, at_once=8, seed=2),
        watch=lambda done, _: told.append(done),
    )
    assert sum(row.tally.games for row in report.rows) == len(report.games) == 40
    assert report.place.elo > 50 and report.place.low <= report.place.elo
    assert told[-1] == 40 and report.faults == []
    assert 1 < report.distinct_games <= 40
    for one, other in zip(report.games[::2], report.games[1::2], strict=True):
        assert one.rung == other.rung and one.game.opening == other.game.opening
        assert one.game.a_first and not other.game.a_first
    for row in report.rows:
        results = [each.game.result for each in report.games if each.rung == row.rung.player]
        assert row.tally.wins == results.count(1) and row.tally.losses == results.count(-1)


def test_a_climb_ends_when_the_interval_is_narrow() -> None:
    from rookery.arena import RandomPlayer

    plan = RatingPlan(games=400, width=400.0, at_once=8)
    report = rate_player(TICTACTOE, RandomPlayer(TICTACTOE, 5), PLAIN, plan=plan)
    assert report.place.width <= 420 and len(report.games) < 200


def test_games_of_a_climb_replay_to_their_results() -> None:
    from rookery.arena import RandomPlayer

    report = rate_player(TICTACTOE, RandomPlayer(TICTACTOE, 5), PLAIN, plan=RatingPlan(games=20))
    for each in report.games:
        state = TICTACTOE.replay(each.game.opening + each.game.moves)
        a_to_move = (len(each.game.opening + each.game.moves) % 2 == 0) == each.game.a_first
        outcome = TICTACTOE.rules.outcome(state)
        assert each.game.result == (outcome if a_to_move else -outcome)


def test_an_interrupted_climb_tells_of_the_pairs_that_have_ended() -> None:
    from rookery.arena import RandomPlayer

    def interrupt(done: int, _: RatingEstimate) -> None:
        told.append(done)
        if done >= 10:
            raise KeyboardInterrupt

    told, plan = list[int](), RatingPlan(games=400, at_once=8)
    report = rate_player(TICTACTOE, RandomPlayer(TICTACTOE, 5), PLAIN, plan=plan, watch=interrupt)
    assert report.was_interrupted and len(report.games) == told[-1] < 20
    assert report.place == place(
        [rung.elo for rung in PLAIN.rungs],
        [PLAIN.rungs[0].player != each.rung for each in report.games[::2]],
        [
            (one.game.result + other.game.result + 2) / 4
            for one, other in zip(report.games[::2], report.games[1::2], strict=True)
        ],
    )


def test_a_climb_interrupted_before_any_pair_has_ended_tells_nothing() -> None:
    from rookery.arena import RandomPlayer

    class Impatient(RandomPlayer):
        def choose(self, *_: object) -> NDArray[np.int32]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rate_player(TICTACTOE, Impatient(TICTACTOE, 5), PLAIN, plan=RatingPlan(games=20))


@pytest.mark.parametrize("games", [0, 1, 7])
def test_games_come_in_pairs(games: int) -> None:
    with pytest.raises(ConfigError, match="even"):
        RatingPlan(games=games)


def test_the_ladder_of_chess_is_one_scale() -> None:
    ladder = load_ladder("stockfish")
    elos = [rung.elo for rung in ladder.rungs]
    assert elos == sorted(elos) and ladder.rungs[0].player == "random"
    anchor = next(rung for rung in ladder.rungs if rung.player == "stockfish:1350")
    assert anchor.elo == anchor.low == anchor.high == 1350
    assert all(rung.low <= rung.elo <= rung.high and rung.games >= 40 for rung in ladder.rungs)
    assert max(np.diff(elos)) < 450


def test_a_ladder_of_another_game_is_refused() -> None:
    with pytest.raises(ConfigError, match="is of chess, not tictactoe"):
        load_ladder("stockfish").check(TICTACTOE)
    with pytest.raises(UnknownName, match="stockfish"):
        load_ladder("stokfish")
    with pytest.raises(UnknownName, match="did you mean minimax"):
        load_ladder("stockfish").only(["minimax:9"])


def test_without_engines_the_rungs_that_need_none_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rookery.arena.players.engine_specs.FOLDERS", "")
    monkeypatch.setenv("PATH", "")
    ladder = load_ladder("stockfish")
    with pytest.raises(ConfigError, match=r"apt install .*--rungs random,minimax:1,minimax:2"):
        ladder.check(load_game("chess"))
    ladder.only(["random", "minimax:1"]).check(load_game("chess"))


def test_the_book_holds_different_legal_lines_of_one_length() -> None:
    chess = load_game("chess")
    assert has_book(chess) and not has_book(TICTACTOE)
    lines = book_openings(chess, 400, seed=1)
    assert {len(line) for line in lines} == {6}
    assert len({chess.replay(line).tobytes() for line in lines}) == 400
    assert book_openings(chess, 10, seed=1) == lines[:10] != book_openings(chess, 10, seed=2)
    assert book_openings(chess, 402, seed=1)[400:] == lines[:2]
