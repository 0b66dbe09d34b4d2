"""Tic-Tac-Toe: outcomes, planes and text (for perft see test_perft)."""

import numpy as np
import pytest

from rookery.base import IllegalPosition
from rookery.games import DRAW, LOSS, ONGOING, load_game

TICTACTOE = load_game("tictactoe")


@pytest.mark.parametrize("line", ["123", "456", "789", "147", "258", "369", "159", "357"])
def test_three_in_a_line_loses_for_the_player_to_move(line: str) -> None:
    others = [cell for cell in "123456789" if cell not in line][:2]
    moves = line[0] + others[0] + line[1] + others[1] + line[2]
    assert TICTACTOE.rules.outcome(TICTACTOE.position(moves)) == LOSS
    assert TICTACTOE.rules.outcome(TICTACTOE.position(moves[:-1])) == ONGOING


def test_a_full_board_without_a_line_is_a_draw() -> None:
    assert TICTACTOE.rules.outcome(TICTACTOE.position("513746289")) == DRAW


def test_planes_show_the_player_to_move_first() -> None:
    out = np.empty(TICTACTOE.planes_shape, np.float32)
    TICTACTOE.rules.planes(TICTACTOE.position("5"), out)
    assert not out[0].any()
    assert out[1].tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


@pytest.mark.parametrize("text", ["55", "0", "x", "123456789", "142536" + "9"])
def test_illegal_positions_are_rejected(text: str) -> None:
    with pytest.raises(IllegalPosition):
        TICTACTOE.position(text)


def test_the_board_is_shown_as_text() -> None:
    assert TICTACTOE.show(TICTACTOE.position("519")) == "O 2 3\n4 X 6\n7 8 X"
