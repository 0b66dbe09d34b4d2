"""Positions of chess in writing: FEN, checked at the door."""

import re

import numpy as np

from rookery.base import IllegalPosition
from rookery.games.chess.attacks import flipped
from rookery.games.chess.check_info import is_check
from rookery.games.chess.moves import forget_passant
from rookery.games.game import State

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
KINDS = ("pawns", "knights", "bishops", "rooks", "queens", "kings")
LETTERS = "pnbrqk"
RIGHTS = {"K": (7, 4), "Q": (0, 4), "k": (63, 60), "q": (56, 60)}  # squares of rook and king
SQUARES = [f"{'abcdefgh'[square % 8]}{square // 8 + 1}" for square in range(64)]
COUNT = re.compile(r"[0-9]{1,4}")
MOST_QUIET = 150  # plies; at 100 a game has ended, but people write such positions down
MOST_MEN, MOST_PAWNS = 16, 8
FIRST_SET = {"n": 2, "b": 2, "r": 2, "q": 1}


def read_fen(state: State, text: str) -> None:
    """Set `state` from a FEN of 4 to 6 fields, or IllegalPosition."""
    fields = text.split()
    if not 4 <= len(fields) <= 6:
        raise IllegalPosition(f"a FEN has 4 to 6 fields, got {len(fields)} in {text!r}")
    board, side, rights, passant, clock, move = [*fields, *("0", "1")[len(fields) - 4 :]]
    men = _read_board(board)
    if side not in ("w", "b"):
        raise IllegalPosition(f"the side to move is w or b, got {side!r}")
    if not (COUNT.fullmatch(clock) and COUNT.fullmatch(move)):
        raise IllegalPosition(
            f"the counts of a FEN are whole numbers below 10000, got {clock!r} and {move!r}"
        )
    if int(clock) > MOST_QUIET:
        raise IllegalPosition(f"{clock} plies without a capture or a pawn's move are too many")
    _set_men(state, men, is_black=side == "b")
    state.castling = _to_mover(_read_rights(rights, men), state)
    state.clock, state.ply = int(clock), 2 * max(0, int(move) - 1) + (side == "b")
    state.repeats, state.passant = 0, 0
    _check(state)
    state.passant = _read_passant(state, passant)
    forget_passant(state)


def _read_board(board: str) -> dict[int, str]:
    """The letters by square."""
    ranks, men = board.split("/"), dict[int, str]()
    if len(ranks) != 8:
        raise IllegalPosition(f"a board has 8 ranks, got {len(ranks)} in {board!r}")
    for rank, row in zip(range(7, -1, -1), ranks, strict=True):
        file = 0
        for letter in row:
            if letter in "12345678":
                file += int(letter)
            elif letter in LETTERS + LETTERS.upper():
                men[8 * rank + file] = letter
                file += 1
            else:
                raise IllegalPosition(f"no piece is written {letter!r}, in {board!r}")
        if file != 8:
            raise IllegalPosition(f"rank {rank + 1} of {board!r} has {file} squares, expected 8")
    return men


def _set_men(state: State, men: dict[int, str], *, is_black: bool) -> None:
    state.black = is_black
    for kind, letter in zip(KINDS, LETTERS, strict=True):
        setattr(state, kind, _to_mover(_bits(s for s in men if men[s].lower() == letter), state))
    state.own = _to_mover(_bits(s for s in men if men[s].islower() == is_black), state)
    _count_men("white", [letter.lower() for letter in men.values() if letter.isupper()])
    _count_men("black", [letter for letter in men.values() if letter.islower()])
    if any(men[square] in "pP" for square in (*range(8), *range(56, 64)) if square in men):
        raise IllegalPosition("a pawn stands on the first or the last rank")


def _count_men(name: str, letters: list[str]) -> None:
    """No more men than pawns can have become: positions have at most MAX_LEGAL moves only so."""
    if letters.count("k") != 1:
        raise IllegalPosition(f"{name} has {letters.count('k')} kings, expected one")
    pawns = letters.count("p")
    promoted = sum(max(0, letters.count(letter) - count) for letter, count in FIRST_SET.items())
    if len(letters) > MOST_MEN or pawns + promoted > MOST_PAWNS:
        raise IllegalPosition(
            f"{name} has {len(letters)} men, {pawns} pawns among them, and {promoted} that pawns"
            " became: more than a game begins with"
        )


def _bits(squares: object) -> np.uint64:
    return np.uint64(sum(1 << square for square in squares))  # type: ignore[attr-defined]


def _to_mover(bits: np.uint64, state: State) -> np.uint64:
    """A set of squares as the mover sees it, or back."""
    return flipped(bits) if state.black else bits


def _read_rights(rights: str, men: dict[int, str]) -> np.uint64:
    """The rooks that may castle; they and their kings must stand at home."""
    is_odd = len(set(rights)) < len(rights) or set(rights) - set(RIGHTS)
    if rights != "-" and is_odd:
        raise IllegalPosition(f"castling rights are some of KQkq or -, got {rights!r}")
    squares = []
    for letter in rights.replace("-", ""):
        rook, king = RIGHTS[letter]
        own = str.upper if letter.isupper() else str.lower
        if men.get(rook) != own("r") or men.get(king) != own("k"):
            raise IllegalPosition(f"castling {letter}: king and rook are not at home")
        squares.append(rook)
    return _bits(squares)


def _read_passant(state: State, text: str) -> np.uint64:
    """The square that a pawn has just passed, if there is one."""
    if text == "-":
        return np.uint64(0)
    rank = "3" if state.black else "6"
    if text not in SQUARES or text[1] != rank:
        raise IllegalPosition(f"en passant is - or a square of rank {rank}, got {text!r}")
    bit = np.uint64(1 << seen(SQUARES.index(text), state))
    men = int(state.pawns) & ~int(state.own)
    if not int(bit) >> 8 & men or (int(bit) | int(bit) << 8) & occupied(state):
        raise IllegalPosition(f"no pawn has just passed {text}")
    return bit


def occupied(state: State) -> int:
    """The squares of all pieces."""
    return int(sum(int(getattr(state, kind)) for kind in KINDS))


def _check(state: State) -> None:
    """The side that has just moved may not be in check."""
    other = state.copy()
    for name in (*KINDS, "own"):
        setattr(other, name, flipped(getattr(state, name)))
    other.own = np.uint64(int(flipped(np.uint64(occupied(state)))) & ~int(other.own))
    if is_check(other):
        raise IllegalPosition("the side that is not to move is in check")


def write_position(state: State) -> str:
    """The FEN of `state`."""
    men = men_of(state)
    rows = [
        "".join(men.get(8 * rank + file, "1") for file in range(8)) for rank in range(7, -1, -1)
    ]
    board = re.sub("1+", lambda run: str(len(run[0])), "/".join(rows))
    castling, passant = int(_to_mover(state.castling, state)), int(_to_mover(state.passant, state))
    rights = "".join(right for right, (rook, _) in RIGHTS.items() if castling >> rook & 1) or "-"
    target = SQUARES[passant.bit_length() - 1] if passant else "-"
    side = "b" if state.black else "w"
    return f"{board} {side} {rights} {target} {state.clock} {int(state.ply) // 2 + 1}"


def men_of(state: State) -> dict[int, str]:
    """The letters by square, capitals for white."""
    own, men = int(state.own), dict[int, str]()
    for kind, letter in zip(KINDS, LETTERS, strict=True):
        bits = int(getattr(state, kind))
        for square in (square for square in range(64) if bits >> square & 1):
            is_white = bool(own >> square & 1) != bool(state.black)
            men[seen(square, state)] = letter.upper() if is_white else letter
    return men


def seen(square: int, state: State) -> int:
    """A square as the mover sees it, or back."""
    return square ^ 56 if state.black else square
