"""Chess in writing: UCI and SAN for moves, positions with moves behind them, a board for people."""

import re
from collections.abc import Callable

import numpy as np

from rookery.base import IllegalPosition
from rookery.games.chess.actions import ACTION_OF, FROM_TO, MAX_LEGAL, UNDERPROMOTION_OF
from rookery.games.chess.check_info import is_check
from rookery.games.chess.fen import KINDS, LETTERS, SQUARES, men_of, occupied, read_fen, seen
from rookery.games.chess.moves import legal, outcome, play
from rookery.games.chess.position import start
from rookery.games.game import LOSS, ONGOING, State

PROMOTED = "nbr"
UCI_MOVE = re.compile(r"([a-h][1-8])([a-h][1-8])([nbrq]?)")
SAN_MOVE = re.compile(r"([NBRQK]?)([a-h]?)([1-8]?)x?([a-h][1-8])(=?[NBRQ])?")
CASTLES = {"O-O": (4, 6), "O-O-O": (4, 2)}  # where the king comes from and goes to


def read_position(state: State, text: str, make: Callable[[State, int], None] = play) -> None:
    """Set `state` from a FEN, `startpos`, or either followed by `moves e2e4 ...`."""
    text, _, moves = text.partition(" moves ")
    if text in ("", "startpos"):
        start(state)
    elif not text.count("/"):
        start(state)
        moves = f"{text} {moves}"
    else:
        read_fen(state, text)
    for move in moves.split():
        make(state, read_move(state, move))


def show(state: State) -> str:
    men = men_of(state)
    rows = [
        f"{rank + 1} " + " ".join(men.get(8 * rank + file, ".") for file in range(8))
        for rank in range(7, -1, -1)
    ]
    return "\n".join([*rows, "  a b c d e f g h"])


def legal_actions(state: State) -> list[int]:
    """The legal actions of `state`."""
    out = np.zeros(MAX_LEGAL, np.int32)
    return [int(action) for action in out[: legal(state, out)]]


def write_move(state: State, action: int) -> str:
    """A move as UCI writes it: `e2e4`, `e7e8q`."""
    move = int(FROM_TO[action])
    origin, target, piece = move & 63, move >> 6 & 63, move >> 12
    is_queen = not piece and target >= 56 and int(state.pawns) >> origin & 1
    letter = "q" if is_queen else PROMOTED[piece - 1] if piece else ""
    return SQUARES[seen(origin, state)] + SQUARES[seen(target, state)] + letter


def read_move(state: State, text: str) -> int:
    """The action of a move in UCI or SAN."""
    if outcome(state) != ONGOING:
        raise IllegalPosition("the game is over")
    action = find_move(state, text)
    if action is None:
        raise IllegalPosition(f"{text!r} is not a legal move here")
    return action


def find_move(state: State, text: str) -> int | None:
    """The same where a game may go on although it could be drawn; None if no legal move fits."""
    return _read_uci(state, text) if UCI_MOVE.fullmatch(text) else _read_san(state, text)


def _read_uci(state: State, text: str) -> int | None:
    found = UCI_MOVE.fullmatch(text)
    assert found is not None
    origin, target = (seen(SQUARES.index(square), state) for square in found.groups()[:2])
    pair = origin + 64 * target
    piece = found[3]
    under = PROMOTED.find(piece) if piece else -1
    action = int(ACTION_OF[pair]) if under < 0 else int(UNDERPROMOTION_OF[pair]) + under
    is_legal = action in legal_actions(state) and write_move(state, action) == text
    return action if is_legal else None


def _read_san(state: State, text: str) -> int | None:
    """The only legal move that fits; checks, and what tells pieces apart, may be said or not."""
    plain = text.rstrip("+#!?").replace("0", "O")
    if plain in CASTLES:
        return _castle(state, *CASTLES[plain])
    found = SAN_MOVE.fullmatch(plain)
    fitting = [a for a in legal_actions(state) if _fits(state, a, found)] if found else []
    is_odd = len(fitting) != 1 or ("x" in plain and "x" not in _san_body(state, fitting[0]))
    return None if is_odd else fitting[0]


def _castle(state: State, origin: int, target: int) -> int | None:
    action = int(ACTION_OF[origin + 64 * target])
    is_king = _kind(state, origin) == "k" if occupied(state) >> origin & 1 else False
    return action if is_king and action in legal_actions(state) else None


def _fits(state: State, action: int, found: re.Match[str]) -> bool:
    """Whether SAN's piece, file, rank, target and promotion are those of `action`."""
    kind, file, rank, target, promotion = found.groups()
    uci, origin = write_move(state, action), int(FROM_TO[action]) & 63
    return (
        uci[2:4] == target
        and file in ("", uci[0])
        and (kind or file or uci[0] == uci[2])  # a pawn that takes says where from
        and rank in ("", uci[1])
        and (promotion or "").strip("=").lower() == uci[4:]
        and _kind(state, origin) == (kind.lower() or "p")
    )


def write_san(state: State, action: int) -> str:
    """A move as people write it: `e4`, `Nbd7`, `exd8=Q+`, `O-O`."""
    after = state.copy()
    play(after, action)
    mark = ""
    if is_check(after):
        mark = "#" if outcome(after) == LOSS else "+"
    return _san_body(state, action) + mark


def _san_body(state: State, action: int) -> str:
    uci, move = write_move(state, action), int(FROM_TO[action])
    origin, target = move & 63, move >> 6 & 63
    kind = _kind(state, origin)
    if kind == "k" and abs(origin - target) == 2:
        return "O-O" if target > origin else "O-O-O"
    is_capture = occupied(state) >> target & 1
    if kind == "p":
        is_capture = origin % 8 != target % 8
        return (f"{uci[0]}x" if is_capture else "") + uci[2:4] + _promotion(uci)
    return kind.upper() + _distinction(state, action, kind) + "x" * is_capture + uci[2:4]


def _promotion(uci: str) -> str:
    return f"={uci[4].upper()}" if len(uci) > 4 else ""


def _kind(state: State, square: int) -> str:
    for kind, letter in zip(KINDS, LETTERS, strict=True):
        if int(getattr(state, kind)) >> square & 1:
            return letter
    raise IllegalPosition(f"there is no piece on {SQUARES[seen(square, state)]}")


def _distinction(state: State, action: int, kind: str) -> str:
    """What tells the piece from others of its kind that could go there too."""
    move = int(FROM_TO[action])
    origin = move & 63
    others = [
        other & 63
        for other in (int(FROM_TO[each]) for each in legal_actions(state))
        if other >> 6 == move >> 6 and other != move and _kind(state, other & 63) == kind
    ]
    name = SQUARES[seen(origin, state)]
    if not others:
        return ""
    if all(other % 8 != origin % 8 for other in others):
        return name[0]
    return name if any(other // 8 == origin // 8 for other in others) else name[1]
