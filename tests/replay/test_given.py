"""Rows of games that were given: the move made is the policy, the result the value."""

import numpy as np
import pytest

from rookery.base import IllegalPosition
from rookery.games import DRAW, LOSS, ONGOING, WIN, Game, load_game
from rookery.replay import GIVEN, ReplayConfig, Window, count, games_in, given_rows

FIRST_WINS = (0, 3, 1, 4, 2)
"""Tic-Tac-Toe: the first player fills the top row."""


@pytest.fixture
def tictactoe() -> Game:
    return load_game("tictactoe")


def test_targets_are_the_moves_and_the_result(tictactoe: Game) -> None:
    rows = given_rows(tictactoe, tictactoe.new_states(1)[0], FIRST_WINS, WIN)
    assert rows.moves.tolist() == list(FIRST_WINS)
    assert rows.results.tolist() == rows.values.tolist() == [1, -1, 1, -1, 1]
    assert not rows.draws.any() and (rows.iterations == GIVEN).all()
    window = Window(tictactoe, ReplayConfig())
    window.add(rows)
    batch = window.batch(np.array([0]), np.arange(5), stream=np.uint64(1), result_mix=0.3)
    assert batch.policy.max(1).values.tolist() == [1.0] * 5
    assert sorted(batch.wdl[:, 0].tolist()) == pytest.approx([0, 0, 1, 1, 1])
    (played,) = games_in(rows)
    assert played.moves == FIRST_WINS and played.result == WIN
    assert window.statistics(3).given_rows == 5


def test_a_result_may_come_from_the_players_or_from_the_rules(tictactoe: Game) -> None:
    start = tictactoe.new_states(1)[0]
    agreed = given_rows(tictactoe, start, (0, 1), DRAW)
    assert agreed.draws.tolist() == [1, 1] and agreed.results.tolist() == [0, 0]
    assert given_rows(tictactoe, start, FIRST_WINS, ONGOING).results[0] == WIN


@pytest.mark.parametrize(
    ("actions", "result", "reason"),
    [
        ((0, 0), WIN, "an illegal move"),
        ((0, 9), WIN, "an illegal move"),
        ((0, -1), WIN, "an illegal move"),
        ((0, 1), ONGOING, "unfinished"),
        ((), WIN, "no moves"),
        (FIRST_WINS, LOSS, "another result than by the rules"),
        ((0,) * 10, WIN, "longer than 9 moves"),
    ],
)
def test_other_games_are_refused(
    tictactoe: Game, actions: tuple[int, ...], result: int, reason: str
) -> None:
    with pytest.raises(IllegalPosition, match=reason):
        given_rows(tictactoe, tictactoe.new_states(1)[0], actions, result)


def test_moves_after_the_end_by_the_rules_are_left_out(tictactoe: Game) -> None:
    rows = given_rows(tictactoe, tictactoe.new_states(1)[0], (*FIRST_WINS, 5), WIN)
    assert count(rows) == 5
