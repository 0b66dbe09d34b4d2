"""Our chess and other implementations behind one interface, and players for random games.

Moves are written in UCI, outcomes are for the player to move.
"""

from typing import Any, Protocol

import chess
import numpy as np
import rust_chess

from rookery.games import (
    DRAW,
    LOSS,
    ONGOING,
    Action,
    Game,
    bind_repetitions,
    load_game,
    new_repetitions,
)
from rookery.games.chess.actions import FROM_TO

CHESS = load_game("chess")
STARTS = (
    chess.STARTING_FEN,
    "r3k2r/pppqbppp/2n2n2/3pp3/3PP1b1/2N2N2/PPPQBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "4k2r/6pp/8/2bB4/8/8/PP6/R3K3 w Qk - 0 60",
    "8/5k2/8/8/3N4/8/1b2K2p/8 w - - 0 70",
)
TASTES = ("any", "again", "pawns", "home", "greed")
"""What random players prefer: any move, moving back, pawn moves, castling, captures."""
ORIGINS, TARGETS = (FROM_TO & 63).tolist(), (FROM_TO >> 6 & 63).tolist()


def _texts(is_black: bool) -> dict[tuple[Action, int], str]:
    """Return the UCI text of each action, for other pieces (0) and for pawns (1)."""
    texts = {}
    for action, (origin, target) in enumerate(zip(ORIGINS, TARGETS, strict=True)):
        squares = (square ^ 56 if is_black else square for square in (origin, target))
        text = "".join(chess.SQUARE_NAMES[square] for square in squares)
        piece = " nbr"[FROM_TO[action] >> 12].strip()
        texts[action, 0] = text + piece
        texts[action, 1] = text + (piece or "q" * (target >= 56))
    return texts


TEXTS = (_texts(False), _texts(True))


class Board(Protocol):
    """What the tests need of an implementation."""

    def moves(self) -> set[str]: ...

    def outcome(self) -> int: ...

    def play(self, move: str) -> None: ...


class OurBoard:
    """The rules under test, with the repetitions of one game."""

    def __init__(self, fen: str = chess.STARTING_FEN, rules: Game = CHESS) -> None:
        self.game, self.state = rules, rules.position(fen)
        self._repetitions = new_repetitions(rules, 1)
        self._play = bind_repetitions(rules.rules).play

    def actions(self) -> list[Action]:
        return self.game.legal_actions(self.state)

    def moves(self, actions: list[Action] | None = None) -> set[str]:
        """Return the legal moves, given as `actions` if the caller knows them."""
        return {self.write(action) for action in actions or self.actions()}

    def outcome(self) -> int:
        return int(self.game.rules.outcome(self.state))

    def write(self, action: Action) -> str:
        return str(self.game.write_move(self.state, action))

    def play(self, move: str) -> None:
        self.make(self.game.read_move(self.state, move))

    def make(self, action: Action) -> None:
        self._play(self._repetitions, self.state, action, 0)


class OurQuickBoard(OurBoard):
    """The same with moves from a table, because reading single records is slow."""

    def moves(self, actions: list[Action] | None = None) -> set[str]:
        texts, pawns = TEXTS[int(self.state.black)], int(self.state.pawns)
        return {texts[a, pawns >> ORIGINS[a] & 1] for a in actions or self.actions()}

    def write(self, action: Action) -> str:
        is_pawn = int(self.state.pawns) >> ORIGINS[action] & 1
        return TEXTS[int(self.state.black)][action, is_pawn]


class PythonBoard:
    """python-chess."""

    def __init__(self, fen: str = chess.STARTING_FEN) -> None:
        self.board = chess.Board(fen)

    def moves(self) -> set[str]:
        return {move.uci() for move in self.board.legal_moves}

    def outcome(self) -> int:
        board = self.board
        if not any(board.generate_legal_moves()):
            return LOSS if board.is_check() else DRAW
        is_drawn = board.halfmove_clock >= 100 or board.is_insufficient_material()
        return DRAW if is_drawn or board.is_repetition(3) else ONGOING

    def play(self, move: str) -> None:
        self.board.push_uci(move)


class RustBoard:
    """rust-chess, which is faster."""

    def __init__(self, fen: str = chess.STARTING_FEN) -> None:
        self.board = rust_chess.Board(fen)

    def moves(self) -> set[str]:
        self.board.reset_move_generator()
        return {move.get_uci() for move in self.board.generate_legal_moves() if move}

    def outcome(self) -> int:
        board = self.board
        if board.is_checkmate():
            return LOSS
        is_drawn = board.is_fifty_moves() or board.is_threefold_repetition()
        is_dead = board.is_stalemate() or board.is_insufficient_material()
        return DRAW if is_drawn or is_dead else ONGOING

    def play(self, move: str) -> None:
        self.board.make_move(rust_chess.Move(move), check_legality=False)


def choose(
    state: Any, actions: list[Action], taste: str, last: Action, stream: np.random.Generator
) -> Action:
    """Return a random move of a player of `taste`, whose previous move was `last`."""
    liked = _liked(state, actions, taste, last) if stream.random() < 0.7 else []
    pool = liked or actions
    return pool[int(stream.random() * len(pool))]


def _liked(state: Any, actions: list[Action], taste: str, last: Action) -> list[Action]:
    if taste == "again":
        back = ORIGINS[last], TARGETS[last]
        return [action for action in actions if (TARGETS[action], ORIGINS[action]) == back]
    if taste == "pawns":
        pawns = int(state.pawns)
        return [action for action in actions if pawns >> ORIGINS[action] & 1]
    if taste == "home":
        king = int(state.kings & state.own).bit_length() - 1
        return [a for a in actions if ORIGINS[a] == king and abs(TARGETS[a] - king) == 2]
    if taste == "greed":
        others = state.pawns | state.knights | state.bishops | state.rooks | state.queens
        prey = int(others & ~state.own)
        return [action for action in actions if prey >> TARGETS[action] & 1]
    return []
