"""Random games of chess, ply by ply, compared with other implementations."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from chess_boards import (
    STARTS,
    TASTES,
    Board,
    OurBoard,
    OurQuickBoard,
    PythonBoard,
    RustBoard,
    choose,
)
from rookery.base import generator
from rookery.games import LOSS, ONGOING, WIN, Action

FEW, MANY, VERY_MANY = 40, 2_000, 100_000
BLOCK = 5_000
SHORT, LONG = 100, 10_000
"""Largest numbers of plies in a game: in everyday tests, and in slow ones."""


def play_along(
    ours: OurBoard,
    other: Board,
    *,
    taste: str,
    stream: np.random.Generator,
    plies: int,
    on_move: Callable[[Action], None] = lambda action: None,
) -> tuple[int, list[str]]:
    """Play a random game on two boards that must agree; return our outcome and the moves.

    The caller compares the final outcomes.
    """
    lasts, moves = [0, 0], list[str]()
    while (outcome := ours.outcome()) == other.outcome() == ONGOING and len(moves) < plies:
        actions = ours.actions()
        written = ours.moves(actions)
        assert len(written) == len(actions) and written == other.moves(), moves
        action = choose(ours.state, actions, taste, lasts[len(moves) % 2], stream)
        lasts[len(moves) % 2] = action
        on_move(action)
        moves.append(ours.write(action))
        other.play(moves[-1])
        ours.make(action)
    return outcome, moves


def check_against_python(index: int, plies: int) -> str:
    """Compare one game, with FEN and SAN in every position; return how it ended."""
    fen, taste = STARTS[index % len(STARTS)], TASTES[index % len(TASTES)]
    ours, other = OurBoard(fen), PythonBoard(fen)
    game = ours.game

    def on_move(action: Action) -> None:
        assert game.write_position(ours.state) == other.board.fen()
        san = other.board.san(other.board.parse_uci(ours.write(action)))
        assert game.write_san(ours.state, action) == san
        assert game.read_move(ours.state, san) == action

    stream = generator(0, "test_chess", index)
    outcome, moves = play_along(
        ours, other, taste=taste, stream=stream, plies=plies, on_move=on_move
    )
    assert outcome == other.outcome(), (fen, moves)
    board = other.board
    if outcome == ONGOING:
        return "unfinished"
    if outcome == LOSS:
        return "mate"
    is_dead = board.is_insufficient_material()
    if not any(board.legal_moves) or is_dead:
        return "dead" if is_dead else "stalemate"
    return "fifty moves" if board.halfmove_clock >= 100 else "repetition"


def test_games_agree_with_python_chess() -> None:
    ends = Counter(check_against_python(index, SHORT) for index in range(FEW))
    assert ends["mate"] and ends["repetition"] and ends["dead"], ends


@pytest.mark.slow
def test_many_games_agree_with_python_chess() -> None:
    ends = Counter(check_against_python(index, LONG) for index in range(MANY))
    print(ends)
    assert {"mate", "repetition", "dead", "stalemate", "fifty moves"} == set(ends), ends


def check_against_rust(index: int, plies: int) -> int:
    """Compare one game and return its outcome for white; python-chess decides disagreements.

    rust-chess knows no draw by several bishops of one colour, and it distinguishes positions by an
    en passant capture that a pin forbids.
    """
    fen, taste = STARTS[index % len(STARTS)], TASTES[index // len(STARTS) % len(TASTES)]
    ours, other = OurQuickBoard(fen), RustBoard(fen)
    stream = generator(1, "test_chess", index)
    outcome, moves = play_along(ours, other, taste=taste, stream=stream, plies=plies)
    if outcome != other.outcome():
        referee = PythonBoard(fen)
        for move in moves:
            assert referee.outcome() == ONGOING
            referee.play(move)
        assert outcome == referee.outcome(), (fen, moves)
    return outcome if outcome == ONGOING or not ours.state.black else -outcome


def test_games_agree_with_rust_chess() -> None:
    ends = Counter(check_against_rust(index, LONG) for index in range(FEW))
    assert ONGOING not in ends, ends


@pytest.mark.slow
@pytest.mark.parametrize("block", range(VERY_MANY // BLOCK))
def test_very_many_games_agree_with_rust_chess(block: int) -> None:
    indices = range(block * BLOCK, (block + 1) * BLOCK)
    ends = Counter(check_against_rust(index, LONG) for index in indices)
    print(block, ends)
    assert ends[WIN] and ends[LOSS] and ONGOING not in ends, ends
