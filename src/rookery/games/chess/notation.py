"""Chess in writing: FEN for positions, UCI and SAN for moves, a board for people."""

import re

import numpy as np

from rookery.base import IllegalPosition
from rookery.games.chess.actions import ACTION_OF, FROM_TO, MAX_LEGAL, UNDERPROMOTION_OF
from rookery.games.chess.attacks import flipped
from rookery.games.chess.moves import legal, outcome, passing_takers, play
from rookery.games.chess.position import start
from rookery.games.chess.sight import look
from rookery.games.game import LOSS, ONGOING, State

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
KINDS = ("pawns", "knights", "bishops", "rooks", "queens", "kings")
LETTERS = "pnbrqk"
PROMOTED = "nbr"
RIGHTS = {"K": (7, 4), "Q": (0, 4), "k": (63, 60), "q": (56, 60)}  # squares of rook and king
UCI_MOVE = re.compile(r"([a-h][1-8])([a-h][1-8])([nbrq]?)")
MOST_PLIES = 10_000
_SQUARES = [f"{'abcdefgh'[square % 8]}{square // 8 + 1}" for square in range(64)]


def read_position(state: State, text: str) -> None:
    """Set `state` from a FEN, `startpos`, or either followed by `moves e2e4 ...`."""
    text, _, moves = text.partition(" moves ")
    if text in ("", "startpos"):
        start(state)
    elif not text.count("/"):
        start(state)
        moves = f"{text} {moves}"
    else:
        _read_fen(state, text)
    for move in moves.split():
        play(state, read_move(state, move))


def _read_fen(state: State, text: str) -> None:
    fields = text.split()
    if not 4 <= len(fields) <= 6:
        raise IllegalPosition(f"a FEN has 4 to 6 fields, got {len(fields)} in {text!r}")
    board, side, rights, passant, clock, move = [*fields, *("0", "1")[len(fields) - 4 :]]
    men = _read_board(board)
    if side not in ("w", "b"):
        raise IllegalPosition(f"the side to move is w or b, got {side!r}")
    if not (clock.isdecimal() and move.isdecimal() and int(move) <= MOST_PLIES // 2):
        raise IllegalPosition(f"the counts of a FEN are whole numbers, got {clock!r} and {move!r}")
    if int(clock) > 150:
        raise IllegalPosition(f"{clock} plies without a capture or a pawn's move are too many")
    _set_men(state, men, is_black=side == "b")
    state.castling = _to_mover(_read_rights(rights, men), state)
    state.clock, state.ply = int(clock), 2 * max(0, int(move) - 1) + (side == "b")
    state.repeats, state.passant = 0, 0
    _check(state)
    state.passant = _read_passant(state, passant)


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
            elif letter.lower() in LETTERS:
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
    for name, letter in (("white", "K"), ("black", "k")):
        kings = list(men.values()).count(letter)
        if kings != 1:
            raise IllegalPosition(f"{name} has {kings} kings, expected one")
    if any(men[square] in "pP" for square in (*range(8), *range(56, 64)) if square in men):
        raise IllegalPosition("a pawn stands on the first or the last rank")


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
    """The square, if a pawn may really be taken there."""
    if text == "-":
        return np.uint64(0)
    rank = "3" if state.black else "6"
    if text not in _SQUARES or text[1] != rank:
        raise IllegalPosition(f"en passant is - or a square of rank {rank}, got {text!r}")
    bit = np.uint64(1 << _seen(_SQUARES.index(text), state))
    men = int(state.pawns) & ~int(state.own)
    if not int(bit) >> 8 & men or (int(bit) | int(bit) << 8) & _occupied(state):
        raise IllegalPosition(f"no pawn has just passed {text}")
    state.passant = bit
    return bit if passing_takers(state, look(state)) else np.uint64(0)


def _occupied(state: State) -> int:
    return int(sum(int(getattr(state, kind)) for kind in KINDS))


def _check(state: State) -> None:
    """The side that has just moved may not be in check."""
    other = state.copy()
    for name in (*KINDS, "own"):
        setattr(other, name, flipped(getattr(state, name)))
    other.own = np.uint64(int(flipped(np.uint64(_occupied(state)))) & ~int(other.own))
    if look(other).danger & other.kings & other.own:
        raise IllegalPosition("the side that is not to move is in check")


def write_position(state: State) -> str:
    """The FEN of `state`."""
    men = _men(state)
    rows = [
        "".join(men.get(8 * rank + file, "1") for file in range(8)) for rank in range(7, -1, -1)
    ]
    board = re.sub("1+", lambda run: str(len(run[0])), "/".join(rows))
    castling, passant = int(_to_mover(state.castling, state)), int(_to_mover(state.passant, state))
    rights = "".join(right for right, (rook, _) in RIGHTS.items() if castling >> rook & 1) or "-"
    target = _SQUARES[passant.bit_length() - 1] if passant else "-"
    side = "b" if state.black else "w"
    return f"{board} {side} {rights} {target} {state.clock} {int(state.ply) // 2 + 1}"


def _men(state: State) -> dict[int, str]:
    """The letters by square, capitals for white."""
    own, men = int(state.own), dict[int, str]()
    for kind, letter in zip(KINDS, LETTERS, strict=True):
        bits = int(getattr(state, kind))
        for square in (square for square in range(64) if bits >> square & 1):
            is_white = bool(own >> square & 1) != bool(state.black)
            men[_seen(square, state)] = letter.upper() if is_white else letter
    return men


def _seen(square: int, state: State) -> int:
    """A square as the mover sees it, or back."""
    return square ^ 56 if state.black else square


def show(state: State) -> str:
    men = _men(state)
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
    return _SQUARES[_seen(origin, state)] + _SQUARES[_seen(target, state)] + letter


def read_move(state: State, text: str) -> int:
    """The action of a move in UCI or SAN."""
    if outcome(state) != ONGOING:
        raise IllegalPosition("the game is over")
    action = _read_uci(state, text) if UCI_MOVE.fullmatch(text) else _read_san(state, text)
    if action is None:
        raise IllegalPosition(f"{text!r} is not a legal move here")
    return action


def _read_uci(state: State, text: str) -> int | None:
    found = UCI_MOVE.fullmatch(text)
    assert found is not None
    origin, target = (_seen(_SQUARES.index(square), state) for square in found.groups()[:2])
    pair = origin + 64 * target
    piece = found[3]
    under = PROMOTED.find(piece) if piece else -1
    action = int(ACTION_OF[pair]) if under < 0 else int(UNDERPROMOTION_OF[pair]) + under
    is_legal = action in legal_actions(state) and write_move(state, action) == text
    return action if is_legal else None


def _read_san(state: State, text: str) -> int | None:
    """The only legal move written so, checks and mates left out or not."""
    plain = text.rstrip("+#").replace("0-0-0", "O-O-O").replace("0-0", "O-O")
    for action in legal_actions(state):
        if write_san(state, action).rstrip("+#") == plain:
            return action
    return None


def write_san(state: State, action: int) -> str:
    """A move as people write it: `e4`, `Nbd7`, `exd8=Q+`, `O-O`."""
    after = state.copy()
    play(after, action)
    mark = ""
    if look(after).danger & after.kings & after.own:
        mark = "#" if outcome(after) == LOSS else "+"
    return _san_body(state, action) + mark


def _san_body(state: State, action: int) -> str:
    uci, move = write_move(state, action), int(FROM_TO[action])
    origin, target = move & 63, move >> 6 & 63
    kind = _kind(state, origin)
    if kind == "k" and abs(origin - target) == 2:
        return "O-O" if target > origin else "O-O-O"
    is_capture = _occupied(state) >> target & 1
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
    raise IllegalPosition(f"there is no piece on {_SQUARES[_seen(square, state)]}")


def _distinction(state: State, action: int, kind: str) -> str:
    """What tells the piece from others of its kind that could go there too."""
    move = int(FROM_TO[action])
    origin = move & 63
    others = [
        other & 63
        for other in (int(FROM_TO[each]) for each in legal_actions(state))
        if other >> 6 == move >> 6 and other != move and _kind(state, other & 63) == kind
    ]
    name = _SQUARES[_seen(origin, state)]
    if not others:
        return ""
    if all(other % 8 != origin % 8 for other in others):
        return name[0]
    return name if any(other // 8 == origin // 8 for other in others) else name[1]
