"""Strength tests on players whose strength is known."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import toy
from rookery.arena import (
    ExhaustiveSolver,
    MatchGame,
    MatchTest,
    MinimaxPlayer,
    Player,
    RandomPlayer,
    SearchPlayer,
    SolverPlayer,
    strength_test_for,
)
from rookery.arena.solvers.positions import SolvedPosition, load_positions
from rookery.arena.strength.solved import (
    ExhaustiveTest,
    PositionTest,
    Scores,
    grade_move,
    play_every_reply,
    reachable_states,
)
from rookery.arena.strength.strength_test import StrengthTest
from rookery.games import DRAW, LOSS, ONGOING, WIN, Game, State, States, load_game
from rookery.search import SearchConfig

TICTACTOE = load_game("tictactoe")
CONNECT4 = load_game("connect4")


class StoredScores:
    """Plays the move whose stored score `choose_score` selects."""

    name = "stored"

    def __init__(
        self, positions: Sequence[SolvedPosition], choose_score: Callable[[Iterable[int]], int]
    ) -> None:
        self.moves = {
            CONNECT4.position(position.moves).tobytes(): list(position.scores).index(
                choose_score(score for score in position.scores if score is not None)
            )
            for position in positions
        }

    def choose(self, states: States, histories: object = None) -> NDArray[np.int32]:
        return np.array([self.moves[state.tobytes()] for state in states], np.int32)


class FirstLegal:
    """Plays the lowest legal action."""

    name = "first"

    def choose(self, states: States, histories: object = None) -> NDArray[np.int32]:
        return np.array([TICTACTOE.legal_actions(state)[0] for state in states], np.int32)


def perfect() -> SolverPlayer:
    return SolverPlayer(TICTACTOE, ExhaustiveSolver(TICTACTOE), seed=0)


def policy_player(game: Game) -> SearchPlayer:
    """Return a player without randomness."""
    evaluator = toy.hashed(game.num_actions)
    return SearchPlayer(
        game, evaluator, config=SearchConfig(), simulations=0, seed=0, name="policy"
    )


def error_rate_of_random_moves(scores: Iterable[Scores]) -> float:
    """Return the expected percentage of errors of a player that moves at random."""
    rates = []
    for each in scores:
        legal = [score for score in each if score is not None]
        rates.append(np.mean(np.sign(legal) < np.sign(max(legal))))
    return 100 * float(np.mean(rates))


def results_against_every_reply(state: State, *, player_moves: bool) -> Counter[int]:
    """Return the results of FirstLegal, by recursion over the replies of its opponent."""
    outcome = TICTACTOE.rules.outcome(state)
    if outcome != ONGOING:
        return Counter([outcome if player_moves else -outcome])
    actions = TICTACTOE.legal_actions(state)
    results: Counter[int] = Counter()
    for action in actions[:1] if player_moves else actions:
        child = state.copy()
        TICTACTOE.rules.play(child, action)
        results += results_against_every_reply(child, player_moves=not player_moves)
    return results


def test_tic_tac_toe_has_4520_positions_that_are_not_terminal() -> None:
    assert [len(states) for states in reachable_states(TICTACTOE)] == [
        1, 9, 72, 252, 756, 1140, 1372, 696, 222,
    ]  # fmt: skip


@pytest.mark.parametrize("player", [perfect(), MinimaxPlayer(TICTACTOE, 9, seed=0)])
def test_a_perfect_player_makes_no_errors_and_never_loses(player: Player) -> None:
    strength = strength_test_for(TICTACTOE).measure(player)
    assert strength.errors == 0
    total, games = strength.rows[-2:]
    assert (total.label, total.number, total.errors.count) == ("total", 4520, 0)
    assert total.not_best is not None and total.not_best.count == 0
    assert games.errors.count == 0


def test_the_errors_of_a_random_player_are_those_expected() -> None:
    solver = ExhaustiveSolver(TICTACTOE)
    states = (state for ply in reachable_states(TICTACTOE) for state in ply)
    expected = error_rate_of_random_moves(solver.scores(state) for state in states)
    strength = strength_test_for(TICTACTOE).measure(RandomPlayer(TICTACTOE, 0))
    assert strength.errors == pytest.approx(expected, abs=2)
    assert strength.rows[0].errors.count == 0, "every first move holds the draw"
    assert sum(row.number for row in strength.rows[:-2]) == 4520
    assert strength.rows[-1].errors.count > 0


def test_every_reply_is_played_with_both_colours() -> None:
    first = TICTACTOE.new_states(1)[0]
    expected = results_against_every_reply(first, player_moves=True)
    expected += results_against_every_reply(first, player_moves=False)
    counts = play_every_reply(FirstLegal(), TICTACTOE)
    assert (counts.wins, counts.draws, counts.losses) == (
        expected[WIN], expected[DRAW], expected[LOSS],
    )  # fmt: skip
    assert counts.games == expected.total()


@pytest.mark.parametrize(
    ("action", "is_error", "is_not_best"),
    [(0, False, False), (1, False, True), (2, True, True), (4, True, True)],
)
def test_a_slower_win_is_not_best_but_no_error(
    action: int, is_error: bool, is_not_best: bool
) -> None:
    grade = grade_move([9, 3, 0, None, -2], action)
    assert (grade.is_error, grade.is_not_best) == (is_error, is_not_best)


def test_a_faster_loss_is_not_best_but_no_error() -> None:
    grade = grade_move([-9, -3], 0)
    assert (grade.is_error, grade.is_not_best) == (False, True)


def test_positions_are_counted_by_group() -> None:
    positions = (
        SolvedPosition("easy", "414141", (-1, -1, -1, 18, -1, -1, -1)),
        SolvedPosition("hard", "41424", (-2, -2, -2, 0, -2, -2, -2)),
        SolvedPosition("easy", "4", (0,) * 7),
    )
    strength = PositionTest(positions).measure(StoredScores(positions, min))
    assert [(row.label, row.number, row.errors.count) for row in strength.rows] == [
        ("easy", 2, 1),
        ("hard", 1, 1),
        ("total", 3, 2),
    ]
    total = strength.rows[-1].errors
    assert strength.errors == total.percent == pytest.approx(200 / 3)
    assert total.low < 200 / 3 < total.high


def test_the_connect_four_positions_measure_known_players() -> None:
    positions = load_positions()
    test = strength_test_for(CONNECT4)
    best = test.measure(StoredScores(positions, max))
    assert best.errors == 0 and best.rows[-1].number == len(positions)
    assert [row.label for row in best.rows] == [
        "begin-easy", "begin-medium", "begin-hard", "middle-easy", "middle-medium", "end-easy",
        "total",
    ]  # fmt: skip
    assert test.measure(StoredScores(positions, min)).errors == 100, "an error is always possible"
    expected = error_rate_of_random_moves(position.scores for position in positions)
    assert test.measure(RandomPlayer(CONNECT4, 0)).errors == pytest.approx(expected, abs=3)


def test_every_game_has_a_strength_test() -> None:
    unsolved = replace(TICTACTOE, name="unsolved")
    tests = [strength_test_for(game) for game in (TICTACTOE, CONNECT4, unsolved)]
    assert [type(test) for test in tests] == [ExhaustiveTest, PositionTest, MatchTest]


def test_an_unsolved_game_is_measured_in_matches() -> None:
    test = MatchTest(TICTACTOE, games=20)
    weak, strong = test.measure(RandomPlayer(TICTACTOE, 1)), test.measure(perfect())
    assert [row.label for row in weak.rows] == ["minimax:2", "random"]
    assert weak.label == "points lost to minimax:2"
    assert strong.errors <= 50 < weak.errors
    assert weak.rows[0].errors.low <= weak.errors <= weak.rows[0].errors.high


TESTS: list[tuple[StrengthTest, Game]] = [
    (PositionTest(load_positions()[:1100]), CONNECT4),
    (ExhaustiveTest(TICTACTOE, ExhaustiveSolver(TICTACTOE)), TICTACTOE),
    (MatchTest(CONNECT4), CONNECT4),
]


@pytest.mark.parametrize(("test", "game"), TESTS, ids=lambda value: type(value).__name__)
def test_parts_measured_in_any_order_give_the_same_strength(test: StrengthTest, game: Game) -> None:
    parts = list(range(test.parts))
    random.Random(1).shuffle(parts)
    results = {part: json.dumps(test.measure_part(policy_player(game), part)) for part in parts}
    assert len(parts) > 1 and len(set(results.values())) == len(parts)
    combined = test.combine([json.loads(results[part]) for part in range(test.parts)])
    assert combined == test.measure(policy_player(game))
    assert 0 < combined.errors < 100


def test_both_matches_use_the_same_openings() -> None:
    test = MatchTest(replace(TICTACTOE, name="unsolved"), games=40, opening_plies=1)
    results = [test.measure_part(policy_player(TICTACTOE), part) for part in range(test.parts)]
    assert [len(result) for result in results] == [32, 8, 32, 8]
    openings = [[MatchGame.from_plain(plain).opening for plain in result] for result in results]
    assert openings[:2] == openings[2:] and openings[0] != openings[1]
