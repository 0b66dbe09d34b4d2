"""A board counts repetitions, undoes moves and reads text."""

import pytest

from rookery.base import IllegalPosition
from rookery.games import DRAW, ONGOING, Board, load_game

CHESS, CONNECT4 = load_game("chess"), load_game("connect4")
SHUFFLE = "Nf3 Nf6 Ng1 Ng8"


def play(board: Board, moves: str) -> None:
    for move in moves.split():
        board.play(board.game.read_move(board.state, move))


def test_the_third_repetition_ends_the_game() -> None:
    board = Board(CHESS)
    play(board, SHUFFLE)
    assert CHESS.rules.outcome(board.state) == ONGOING and board.state.repeats == 1
    play(board, SHUFFLE)
    assert CHESS.rules.outcome(board.state) == DRAW


def test_undone_moves_do_not_count_as_repetitions() -> None:
    board = Board(CHESS)
    play(board, f"{SHUFFLE} {SHUFFLE}")
    board.undo(4)
    assert len(board.actions) == 4 and board.state.repeats == 1
    assert CHESS.rules.outcome(board.state) == ONGOING


def test_a_position_may_be_followed_by_moves() -> None:
    board = Board.from_text(CHESS, f"startpos moves {SHUFFLE} {SHUFFLE}")
    assert CHESS.rules.outcome(board.state) == DRAW and len(board.actions) == 8


def test_moves_alone_count_as_repetitions() -> None:
    board = Board.from_text(CHESS, f"{SHUFFLE} {SHUFFLE}")
    assert CHESS.rules.outcome(board.state) == DRAW and len(board.actions) == 8
    with pytest.raises(IllegalPosition, match="Nf9"):
        Board.from_text(CHESS, "e4 e5 Nf9")


def test_games_without_repetitions_are_read_as_positions() -> None:
    board = Board.from_text(CONNECT4, "4453")
    assert board.state.tobytes() == CONNECT4.position("4453").tobytes()
    board.play(0)
    assert board.actions == [0]
