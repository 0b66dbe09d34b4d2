"""Read and write chess positions in FEN."""

import re
from collections.abc import Iterable

import numpy as np

from rookery.base import IllegalPosition
from rookery.games.chess.attacks import flip_vertical, is_check
from rookery.games.chess.moves import clear_useless_en_passant
from rookery.games.game import State

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
KINDS = ("pawns", "knights", "bishops", "rooks", "queens", "kings")
LETTERS = "pnbrqk"
CASTLING_SQUARES = {"K": (7, 4), "Q": (0, 4), "k": (63, 60), "q": (56, 60)}  # rook, king
SQUARES = [f"{'abcdefgh'[square % 8]}{square // 8 + 1}" for square in range(64)]
COUNT = re.compile(r"[0-9]{1,4}")
MAX_HALFMOVE_CLOCK = 150  # plies; the game ends at 100, but such positions are written down
MAX_PIECES, MAX_PAWNS = 16, 8
INITIAL_COUNTS = {"n": 2, "b": 2, "r": 2, "q": 1}


def read_fen(state: State, text: str) -> None:
    """Set `state` from a FEN of 4 to 6 fields, or raise IllegalPosition."""
    fields = text.split()
    if not 4 <= len(fields) <= 6:
        raise IllegalPosition(f"expected a FEN of 4 to 6 fields, got {len(fields)} in {text!r}")
    board, side, rights, en_passant, clock, move = [*fields, *("0", "1")[len(fields) - 4 :]]
    pieces = _read_board(board)
    if side not in ("w", "b"):
        raise IllegalPosition(f"expected w or b as the side to move, got {side!r}")
    if not (COUNT.fullmatch(clock) and COUNT.fullmatch(move)):
        raise IllegalPosition(
            f"expected the counts of a FEN to be integers below 10000, got {clock!r} and {move!r}"
        )
    if int(clock) > MAX_HALFMOVE_CLOCK:
        raise IllegalPosition(
            f"expected a halfmove clock of at most {MAX_HALFMOVE_CLOCK}, got {clock}"
        )
    _set_pieces(state, pieces, is_black=side == "b")
    state.castling = _flip_squares(_read_castling(rights, pieces), state)
    state.clock, state.ply = int(clock), 2 * max(0, int(move) - 1) + (side == "b")
    state.repeats, state.passant = 0, 0
    _check_opponent_not_in_check(state)
    state.passant = _read_en_passant(state, en_passant)
    clear_useless_en_passant(state)


def _read_board(board: str) -> dict[int, str]:
    """Return the piece letters by square."""
    ranks, pieces = board.split("/"), dict[int, str]()
    if len(ranks) != 8:
        raise IllegalPosition(f"expected 8 ranks, got {len(ranks)} in {board!r}")
    for rank, row in zip(range(7, -1, -1), ranks, strict=True):
        file = 0
        for letter in row:
            if letter in "12345678":
                file += int(letter)
            elif letter in LETTERS + LETTERS.upper():
                pieces[8 * rank + file] = letter
                file += 1
            else:
                raise IllegalPosition(f"unknown piece {letter!r} in {board!r}")
        if file != 8:
            raise IllegalPosition(f"rank {rank + 1} of {board!r} has {file} squares, expected 8")
    return pieces


def _set_pieces(state: State, pieces: dict[int, str], *, is_black: bool) -> None:
    state.black = is_black
    for kind, letter in zip(KINDS, LETTERS, strict=True):
        squares = (square for square in pieces if pieces[square].lower() == letter)
        setattr(state, kind, _flip_squares(_bits(squares), state))
    state.own = _flip_squares(_bits(s for s in pieces if pieces[s].islower() == is_black), state)
    _check_counts("white", [letter.lower() for letter in pieces.values() if letter.isupper()])
    _check_counts("black", [letter for letter in pieces.values() if letter.islower()])
    if any(pieces[square] in "pP" for square in (*range(8), *range(56, 64)) if square in pieces):
        raise IllegalPosition("there is a pawn on the first or the last rank")


def _check_counts(name: str, letters: list[str]) -> None:
    """Check that a side has only pieces that a game allows, which bounds MAX_LEGAL."""
    if letters.count("k") != 1:
        raise IllegalPosition(f"{name} has {letters.count('k')} kings, expected one")
    pawns = letters.count("p")
    promoted = sum(max(0, letters.count(each) - count) for each, count in INITIAL_COUNTS.items())
    if len(letters) > MAX_PIECES or pawns + promoted > MAX_PAWNS:
        raise IllegalPosition(
            f"{name} has {len(letters)} pieces, including {pawns} pawns and {promoted} promoted"
            " pieces: more than a game allows"
        )


def _bits(squares: Iterable[int]) -> np.uint64:
    return np.uint64(sum(1 << square for square in squares))


def _flip_squares(bits: np.uint64, state: State) -> np.uint64:
    """Convert a bitboard between white's view and that of the player to move."""
    return flip_vertical(bits) if state.black else bits


def _read_castling(rights: str, pieces: dict[int, str]) -> np.uint64:
    """Return the rooks that may castle; they and their kings must be on their first squares."""
    is_invalid = len(set(rights)) < len(rights) or set(rights) - set(CASTLING_SQUARES)
    if rights != "-" and is_invalid:
        raise IllegalPosition(f"expected castling rights from KQkq or -, got {rights!r}")
    squares = []
    for letter in rights.replace("-", ""):
        rook, king = CASTLING_SQUARES[letter]
        in_colour = str.upper if letter.isupper() else str.lower
        if pieces.get(rook) != in_colour("r") or pieces.get(king) != in_colour("k"):
            raise IllegalPosition(f"castling {letter}: king or rook is not on its first square")
        squares.append(rook)
    return _bits(squares)


def _read_en_passant(state: State, text: str) -> np.uint64:
    """Return the square that a pawn has just passed, if any."""
    if text == "-":
        return np.uint64(0)
    rank = "3" if state.black else "6"
    if text not in SQUARES or text[1] != rank:
        raise IllegalPosition(f"expected - or an en passant square on rank {rank}, got {text!r}")
    bit = np.uint64(1 << flip_square(SQUARES.index(text), state))
    pawns = int(state.pawns) & ~int(state.own)
    if not int(bit) >> 8 & pawns or (int(bit) | int(bit) << 8) & occupied_bits(state):
        raise IllegalPosition(f"no pawn has just passed {text}")
    return bit


def occupied_bits(state: State) -> int:
    """Return the squares of all pieces."""
    return int(sum(int(getattr(state, kind)) for kind in KINDS))


def _check_opponent_not_in_check(state: State) -> None:
    """Raise IllegalPosition if the side that has just moved is in check."""
    other = state.copy()
    for name in (*KINDS, "own"):
        setattr(other, name, flip_vertical(getattr(state, name)))
    other.own = np.uint64(int(flip_vertical(np.uint64(occupied_bits(state)))) & ~int(other.own))
    if is_check(other):
        raise IllegalPosition("the side that is not to move is in check")


def write_position(state: State) -> str:
    """Return the FEN of `state`."""
    pieces = pieces_of(state)
    rows = [
        "".join(pieces.get(8 * rank + file, "1") for file in range(8)) for rank in range(7, -1, -1)
    ]
    board = re.sub("1+", lambda run: str(len(run[0])), "/".join(rows))
    castling = int(_flip_squares(state.castling, state))
    passant = int(_flip_squares(state.passant, state))
    rights = "".join(each for each, (rook, _) in CASTLING_SQUARES.items() if castling >> rook & 1)
    target = SQUARES[passant.bit_length() - 1] if passant else "-"
    side = "b" if state.black else "w"
    return f"{board} {side} {rights or '-'} {target} {state.clock} {int(state.ply) // 2 + 1}"


def pieces_of(state: State) -> dict[int, str]:
    """Return the piece letters by square, in capitals for white."""
    own, pieces = int(state.own), dict[int, str]()
    for kind, letter in zip(KINDS, LETTERS, strict=True):
        bits = int(getattr(state, kind))
        for square in (square for square in range(64) if bits >> square & 1):
            is_white = bool(own >> square & 1) != bool(state.black)
            pieces[flip_square(square, state)] = letter.upper() if is_white else letter
    return pieces


def flip_square(square: int, state: State) -> int:
    """Convert a square between white's view and that of the player to move."""
    return square ^ 56 if state.black else square
