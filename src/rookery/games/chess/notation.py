"""Read and write chess moves in UCI and SAN; read positions with moves; show the board."""

import re
from collections.abc import Callable

import numpy as np

from rookery.base import IllegalPosition
from rookery.games.chess.actions import ACTION_OF, FROM_TO, MAX_LEGAL, UNDERPROMOTION_OF
from rookery.games.chess.attacks import is_check
from rookery.games.chess.fen import (
    KINDS,
    LETTERS,
    SQUARES,
    flip_square,
    occupied_bits,
    pieces_of,
    read_fen,
)
from rookery.games.chess.moves import legal, outcome, play
from rookery.games.chess.position import start
from rookery.games.game import LOSS, ONGOING, State

UNDERPROMOTION_LETTERS = "nbr"
UCI_MOVE = re.compile(r"([a-h][1-8])([a-h][1-8])([nbrq]?)")
SAN_MOVE = re.compile(r"([NBRQK]?)([a-h]?)([1-8]?)x?([a-h][1-8])(=?[NBRQ])?")
CASTLING_MOVES = {"O-O": (4, 6), "O-O-O": (4, 2)}  # origin and target of the king


def read_position(state: State, text: str, make: Callable[[State, int], None] = play) -> None:
    """Set `state` from a FEN, `startpos`, or either followed by `moves e2e4 ...`."""
    text, _, moves = text.partition(" moves ")
    if "/" in text:
        read_fen(state, text)
    else:
        start(state)
        moves = moves if text in ("", "startpos") else f"{text} {moves}"
    for move in moves.split():
        make(state, read_move(state, move))


def show(state: State) -> str:
    pieces = pieces_of(state)
    rows = [
        f"{rank + 1} " + " ".join(pieces.get(8 * rank + file, ".") for file in range(8))
        for rank in range(7, -1, -1)
    ]
    return "\n".join([*rows, "  a b c d e f g h"])


def turn(state: State) -> int:
    """Return 0 if white is to move, 1 if black is."""
    return int(state.black)


def legal_actions(state: State) -> list[int]:
    """Return the legal actions of `state`."""
    out = np.zeros(MAX_LEGAL, np.int32)
    return [int(action) for action in out[: legal(state, out)]]


def write_move(state: State, action: int) -> str:
    """Return a move in UCI: `e2e4`, `e7e8q`."""
    move = int(FROM_TO[action])
    origin, target, piece = move & 63, move >> 6 & 63, move >> 12
    is_queen = not piece and target >= 56 and int(state.pawns) >> origin & 1
    letter = "q" if is_queen else UNDERPROMOTION_LETTERS[piece - 1] if piece else ""
    return SQUARES[flip_square(origin, state)] + SQUARES[flip_square(target, state)] + letter


def read_move(state: State, text: str) -> int:
    """Return the action of a move in UCI or SAN, or raise IllegalPosition."""
    if outcome(state) != ONGOING:
        raise IllegalPosition("the game is over")
    action = find_move(state, text)
    if action is None:
        raise IllegalPosition(f"{text!r} is not a legal move here")
    return action


def find_move(state: State, text: str) -> int | None:
    """Return the legal action that `text` describes, or None; the game may be a draw already."""
    found = UCI_MOVE.fullmatch(text)
    if not found:
        return _find_san(state, text)
    origin, target = (flip_square(SQUARES.index(square), state) for square in found.groups()[:2])
    pair = origin + 64 * target
    under = UNDERPROMOTION_LETTERS.find(found[3]) if found[3] else -1
    action = int(ACTION_OF[pair]) if under < 0 else int(UNDERPROMOTION_OF[pair]) + under
    is_legal = action in legal_actions(state) and write_move(state, action) == text
    return action if is_legal else None


def _find_san(state: State, text: str) -> int | None:
    """Return the only legal move that matches; check marks and disambiguation are optional."""
    plain = text.rstrip("+#!?").replace("0", "O")
    if plain in CASTLING_MOVES:
        origin, target = CASTLING_MOVES[plain]
        castling = int(ACTION_OF[origin + 64 * target])
        is_king = int(state.kings) >> origin & 1
        return castling if is_king and castling in legal_actions(state) else None
    found = SAN_MOVE.fullmatch(plain)
    matching = [a for a in legal_actions(state) if _matches(state, a, found)] if found else []
    is_invalid = len(matching) != 1 or ("x" in plain and "x" not in _san_body(state, matching[0]))
    return None if is_invalid else matching[0]


def _matches(state: State, action: int, found: re.Match[str]) -> bool:
    """Return whether piece, file, rank, target and promotion of a SAN move match `action`."""
    letter, file, rank, target, promotion = found.groups()
    uci, origin = write_move(state, action), int(FROM_TO[action]) & 63
    return (
        uci[2:4] == target
        and file in ("", uci[0])
        and (letter or file or uci[0] == uci[2])  # a pawn capture names its file
        and rank in ("", uci[1])
        and (promotion or "").strip("=").lower() == uci[4:]
        and _piece_letter(state, origin) == (letter.lower() or "p")
    )


def write_san(state: State, action: int) -> str:
    """Return a move in SAN: `e4`, `Nbd7`, `exd8=Q+`, `O-O`."""
    after = state.copy()
    play(after, action)
    mark = ("#" if outcome(after) == LOSS else "+") if is_check(after) else ""
    return _san_body(state, action) + mark


def _san_body(state: State, action: int) -> str:
    uci, move = write_move(state, action), int(FROM_TO[action])
    origin, target = move & 63, move >> 6 & 63
    letter = _piece_letter(state, origin)
    if letter == "k" and abs(origin - target) == 2:
        return "O-O" if target > origin else "O-O-O"
    if letter == "p":
        capture = f"{uci[0]}x" if origin % 8 != target % 8 else ""
        return capture + uci[2:4] + (f"={uci[4].upper()}" if uci[4:] else "")
    is_capture = bool(occupied_bits(state) >> target & 1)
    return letter.upper() + _disambiguation(state, action, letter) + "x" * is_capture + uci[2:4]


def _piece_letter(state: State, square: int) -> str:
    for kind, letter in zip(KINDS, LETTERS, strict=True):
        if int(getattr(state, kind)) >> square & 1:
            return letter
    raise IllegalPosition(f"there is no piece on {SQUARES[flip_square(square, state)]}")


def _disambiguation(state: State, action: int, letter: str) -> str:
    """Return the file, rank or both that tell the piece from others with the same target."""
    move = int(FROM_TO[action])
    origin = move & 63
    others = [
        other & 63
        for other in (int(FROM_TO[each]) for each in legal_actions(state))
        if other >> 6 == move >> 6 and other != move and _piece_letter(state, other & 63) == letter
    ]
    name = SQUARES[flip_square(origin, state)]
    if not others:
        return ""
    if all(other % 8 != origin % 8 for other in others):
        return name[0]
    return name if any(other // 8 == origin // 8 for other in others) else name[1]
