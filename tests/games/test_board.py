"""A game under way: repetition is noticed, and moves can be taken back."""

import pytest

from rookery.base import IllegalPosition
from rookery.games import DRAW, ONGOING, Board, load_game

CHESS, CONNECT4 = load_game("chess"), load_game("connect4")
SHUFFLE = "Nf3 Nf6 Ng1 Ng8"


def play(board: Board, moves: str) -> None:
    for move in moves.split():
        board.play(board.game.module.read_move(board.state, move))


def test_the_third_repetition_ends_the_game() -> None:
    board = Board(CHESS)
    play(board, SHUFFLE)
    assert CHESS.rules.outcome(board.state) == ONGOING and board.state.repeats == 1
    play(board, SHUFFLE)
    assert CHESS.rules.outcome(board.state) == DRAW


def test_moves_taken_back_are_forgotten() -> None:
    board = Board(CHESS)
    play(board, f"{SHUFFLE} {SHUFFLE}")
    board.take_back(4)
    assert len(board.actions) == 4 and board.state.repeats == 1
    assert CHESS.rules.outcome(board.state) == ONGOING


def test_a_position_may_be_followed_by_moves() -> None:
    board = Board.read(CHESS, f"startpos moves {SHUFFLE} {SHUFFLE}")
    assert CHESS.rules.outcome(board.state) == DRAW and len(board.actions) == 8


def test_moves_alone_are_remembered_too() -> None:
    board = Board.read(CHESS, f"{SHUFFLE} {SHUFFLE}")
    assert CHESS.rules.outcome(board.state) == DRAW and len(board.actions) == 8
    with pytest.raises(IllegalPosition, match="Nf9"):
        Board.read(CHESS, "e4 e5 Nf9")


def test_games_without_memory_are_read_as_ever() -> None:
    board = Board.read(CONNECT4, "4453")
    assert board.state.tobytes() == CONNECT4.position("4453").tobytes()
    board.play(0)
    assert board.actions == [0]
