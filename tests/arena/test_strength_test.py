"""Rulers on players whose strength is known."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from rookery.arena import (
    ExhaustiveSolver,
    MinimaxPlayer,
    RandomPlayer,
    SolvedPosition,
    SolverPlayer,
    StrengthTest,
    load_positions,
    measure_exhaustively,
    measure_positions,
    play_every_reply,
    strength_test_for,
)
from rookery.arena.strength_test import (
    ExhaustiveTest,
    MatchTest,
    PositionTest,
    judge_move,
    reachable,
)
from rookery.games import States, load_game

TICTACTOE = load_game("tictactoe")
CONNECT4 = load_game("connect4")


class KnowsTheScores:
    """Looks the stored scores up; its `take` says which of them it wants."""

    name = "cheat"

    def __init__(
        self, positions: Sequence[SolvedPosition], take: Callable[[Iterable[int]], int]
    ) -> None:
        self.answers = {
            CONNECT4.position(position.moves).tobytes(): list(position.scores).index(
                take(score for score in position.scores if score is not None)
            )
            for position in positions
        }

    def choose(self, states: States, past: object = None) -> NDArray[np.int32]:
        return np.array([self.answers[state.tobytes()] for state in states], np.int32)


def perfect() -> SolverPlayer:
    return SolverPlayer(TICTACTOE, ExhaustiveSolver(TICTACTOE), seed=0)


def test_tic_tac_toe_has_4520_positions_that_are_not_over() -> None:
    assert [len(states) for states in reachable(TICTACTOE)] == [
        1, 9, 72, 252, 756, 1140, 1372, 696, 222,
    ]  # fmt: skip


def test_a_perfect_player_makes_no_error() -> None:
    strength = strength_test_for(TICTACTOE).measure(perfect())
    assert strength.errors == 0
    total, lost = strength.rows[-2:]
    assert (total.label, total.number, total.errors.count) == ("total", 4520, 0)
    assert total.not_best is not None and total.not_best.count == 0
    assert lost.errors.count == 0


def test_a_player_that_sees_to_the_end_makes_no_error() -> None:
    table = measure_exhaustively(
        MinimaxPlayer(TICTACTOE, 9, seed=0), TICTACTOE, solver=ExhaustiveSolver(TICTACTOE)
    )
    assert table.total.errors.count == 0


def test_a_random_player_makes_many_errors_and_loses() -> None:
    strength = strength_test_for(TICTACTOE).measure(RandomPlayer(TICTACTOE, 0))
    assert 20 < strength.errors < 60
    assert strength.rows[0].errors.count == 0  # every first move holds the draw
    assert strength.rows[-1].errors.percent > 20
    assert sum(row.number for row in strength.rows[:-2]) == 4520


def test_every_reply_is_walked_in_both_colours() -> None:
    tally = play_every_reply(MinimaxPlayer(TICTACTOE, 1, seed=0), TICTACTOE)
    assert 100 < tally.games < 945 + 384
    assert min(tally.wins, tally.draws, tally.losses) > 0
    assert play_every_reply(perfect(), TICTACTOE).losses == 0


@pytest.mark.parametrize(
    ("action", "is_error", "is_not_best"),
    [(0, False, False), (1, False, True), (2, True, True), (4, True, True)],
)
def test_a_slower_win_is_not_best_but_no_error(
    action: int, is_error: bool, is_not_best: bool
) -> None:
    judgement = judge_move([9, 3, 0, None, -2], action)
    assert (judgement.is_error, judgement.is_not_best) == (is_error, is_not_best)


def test_a_faster_loss_is_not_best_but_no_error() -> None:
    judgement = judge_move([-9, -3], 0)
    assert (judgement.is_error, judgement.is_not_best) == (False, True)


def test_positions_are_counted_by_group() -> None:
    positions = (
        SolvedPosition("easy", "414141", (-1, -1, -1, 18, -1, -1, -1)),
        SolvedPosition("hard", "41424", (-2, -2, -2, 0, -2, -2, -2)),
        SolvedPosition("easy", "4", (0,) * 7),
    )
    table = measure_positions(KnowsTheScores(positions, min), positions)
    assert [(row.label, row.number, row.errors.count) for row in table.rows] == [
        ("easy", 2, 1),
        ("hard", 1, 1),
    ]
    assert table.total.errors.percent == pytest.approx(200 / 3)
    assert table.total.errors.low < 200 / 3 < table.total.errors.high


def test_stored_positions_tell_perfect_from_worst_and_random() -> None:
    positions = load_positions()
    ruler = strength_test_for(CONNECT4)
    best = ruler.measure(KnowsTheScores(positions, max))
    assert best.errors == 0 and best.rows[-1].number == len(positions)
    assert [row.label for row in best.rows] == [
        "begin-easy", "begin-medium", "begin-hard", "middle-easy", "middle-medium", "end-easy",
        "total",
    ]  # fmt: skip
    worst = ruler.measure(KnowsTheScores(positions, min))
    assert 10 < ruler.measure(RandomPlayer(CONNECT4, 0)).errors < worst.errors


def test_every_game_has_its_ruler() -> None:
    unsolved = replace(TICTACTOE, name="unsolved")
    rulers: list[StrengthTest] = [
        strength_test_for(each) for each in (TICTACTOE, CONNECT4, unsolved)
    ]
    assert [type(ruler) for ruler in rulers] == [ExhaustiveTest, PositionTest, MatchTest]


def test_an_unsolved_game_is_measured_by_opponents() -> None:
    ruler = MatchTest(TICTACTOE, games=20)
    weak, strong = ruler.measure(RandomPlayer(TICTACTOE, 1)), ruler.measure(perfect())
    assert [row.label for row in weak.rows] == ["minimax:2", "random"]
    assert weak.label == "points lost to minimax:2"
    assert strong.errors <= 50 < weak.errors
    assert weak.rows[0].errors.low <= weak.errors <= weak.rows[0].errors.high
