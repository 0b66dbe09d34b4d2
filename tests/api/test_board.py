"""`rk.Board`: moves as texts, both ways, in every shipped game."""

import pytest

import rookery as rk
from rookery.api import board as boards


def test_the_examples_of_the_docstring_run() -> None:
    board = rk.Board("connect4", "4453")
    assert (board.turn, board.legal_moves) == (0, list("1234567"))
    board.push("4")
    assert board.moves == list("44534") and board.turn == 1
    assert board.pop() == "4" and board.moves == list("4453")
    assert boards.Board.__doc__ is not None and '"connect4", "4453"' in boards.Board.__doc__


def test_a_game_ends_with_an_outcome_for_the_first_player() -> None:
    board = rk.Board("tictactoe", "1425")
    assert board.outcome is None and not board.is_over
    won = rk.Board("tictactoe", "14253")
    assert (won.outcome, won.is_over, won.legal_moves) == (1, True, [])
    board.push("3")
    assert board == won
    with pytest.raises(rk.IllegalPosition, match="the game is over"):
        board.push("6")
    lost = rk.Board("tictactoe", "142586")
    assert lost.outcome == -1
    assert rk.Board("tictactoe", "123546879").outcome == 0


def test_illegal_moves_leave_the_board_unchanged() -> None:
    board = rk.Board("tictactoe", "5")
    for move in ("5", "x", "", "99"):
        with pytest.raises(rk.IllegalPosition):
            board.push(move)
    assert board.moves == ["5"]
    with pytest.raises(rk.IllegalPosition, match="no move to take back"):
        rk.Board("tictactoe").pop()


def test_copies_are_independent_and_equal() -> None:
    board = rk.Board("tictactoe", "51")
    copied = board.copy()
    assert copied == board and copied is not board
    copied.push("9")
    assert copied != board and board.moves == ["5", "1"]
    assert board != rk.Board("tictactoe", "15") and board != "51"


def test_boards_can_be_read_by_people() -> None:
    board = rk.Board("tictactoe", "51")
    assert repr(board) == "<Board tictactoe 5 1>"
    assert str(board) == board.game.show(board.state)


def test_in_chess_the_position_says_who_is_to_move() -> None:
    board = rk.Board("chess", "6k1/5ppp/8/8/8/8/5PPP/3R2K1 b - - 0 1 moves g8f8")
    assert board.turn == 0 and board.moves == ["Kf8"]
    board.push("Rd8+")
    assert board.turn == 1 and set(board.legal_moves) == {"Ke7"}
    mated = rk.Board("chess", "3r2k1/8/8/8/8/8/5PPP/6K1 b - - 0 1")
    mated.push("d8d1")
    assert mated.outcome == -1


def test_unknown_games_are_refused_with_the_nearest_name() -> None:
    with pytest.raises(rk.ConfigError, match="connect4"):
        rk.Board("conect4")
