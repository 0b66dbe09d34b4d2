"""A game: a rules module of scalar functions over one flat record, and its tables.

A rules module is plain Python, compiled by `rookery.base.compiled`. It defines

    NAME, VERSION     raise the version when the rules or the planes change
    STATE             record dtype of one position
    NUM_ACTIONS       size A of the policy
    MAX_LEGAL         largest number of legal moves in one position
    MAX_PLIES         length of the longest game
    PLANES            shape (P, H, W) of the network's input
    SYMMETRIES        pairs (cells, actions) of tables [H * W] and [A], the identity first
    start(state)      set the first position
    legal(state, out) -> n      write the legal actions into out[:n], each once
    play(state, action)         make a move; the other player is to move afterwards
    outcome(state)    return ONGOING, WIN, DRAW or LOSS for the player to move
    planes(state, out)          write float32 planes [P, H, W] as the player to move sees them
    show(state)       return the board as text
    read_move(state, text), write_move(state, action)

It may also define

    read_position(state, text)  if a position is not just its moves, one character each
    write_position(state)       if positions have a notation of their own, such as FEN
    write_san(state, action)    if people write moves differently from `write_move`
    read_games(text), write_games(records)    if games have a notation, such as PGN
    REPETITION_WINDOW, key(state), reversible_plies(state), set_repetitions(state, times)
                      if positions can repeat (see `repetitions`)
    POLICY_CELLS      [A] plane * H * W + cell of each action, for a convolutional policy head

Values are always for the player to move.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rookery.base import ConfigError, IllegalPosition, namespace
from rookery.games.record import GameRecord

State = Any  # one np.record of the game's STATE dtype
States = NDArray[Any]  # [G] records
Action = int

WIN, DRAW, LOSS, ONGOING = 1, 0, -1, 2

NAMES = re.compile(r"\w[\w:=. -]*")
FUNCTIONS = ("start", "legal", "play", "outcome", "planes")
REPETITION_FUNCTIONS = ("key", "reversible_plies", "set_repetitions")
TEXT_FUNCTIONS = ("show", "read_move", "write_move")
TABLES = (
    "NAME",
    "VERSION",
    "STATE",
    "NUM_ACTIONS",
    "MAX_LEGAL",
    "MAX_PLIES",
    "PLANES",
    "SYMMETRIES",
)


@dataclass(frozen=True)
class Notation:
    """The functions of a rules module that read and write text. They are not compiled."""

    show: Callable[[State], str]
    read_move: Callable[[State, str], Action]
    write_move: Callable[[State, Action], str]
    read_position: Callable[[State, str], None] | None = None
    write_position: Callable[[State], str] | None = None
    write_san: Callable[[State, Action], str] | None = None
    read_games: Callable[[str], list[GameRecord]] | None = None
    write_games: Callable[[Iterable[GameRecord]], str] | None = None


@dataclass(frozen=True)
class Game:
    """The rules of a game for kernels (`rules`), and methods for everything else."""

    name: str
    version: int
    path: Path = field(repr=False)
    """The file that defines the rules."""
    rules: ModuleType = field(repr=False)
    """The compiled functions, as a namespace that kernels may close over."""
    notation: Notation = field(repr=False)
    state_dtype: np.dtype[Any]
    num_actions: int
    max_legal: int
    max_plies: int
    planes_shape: tuple[int, int, int]
    cell_symmetries: NDArray[np.int32]
    """[S, H * W] cells of a plane: new[c] = old[cell_symmetries[s, c]]."""
    action_symmetries: NDArray[np.int32]
    """[S, A] actions: new[a] = old[action_symmetries[s, a]]."""
    repetition_window: int
    """Number of earlier positions to keep: a power of two, 1 if positions cannot repeat."""
    policy_cells: NDArray[np.int64] | None
    """[A] plane * H * W + cell of each action, for a convolutional policy head."""
    source: bytes = field(repr=False)
    """The content of the rules file that was executed; empty for a shipped game."""

    @property
    def digest(self) -> str:
        """The SHA-256 of the rules file; empty for a shipped game."""
        return rules_digest(self.source) if self.source else ""

    @property
    def has_repetitions(self) -> bool:
        """Whether positions can repeat and the rules count repetitions."""
        return hasattr(self.rules, "key")

    @property
    def has_position_notation(self) -> bool:
        """Whether `write_position` is available."""
        return self.notation.write_position is not None

    @property
    def has_game_notation(self) -> bool:
        """Whether `read_games` and `write_games` are available."""
        return self.notation.read_games is not None and self.notation.write_games is not None

    def new_states(self, count: int) -> States:
        """Return `count` first positions."""
        states = self.blank_states(count)
        for state in states:
            self.rules.start(state)
        return states

    def blank_states(self, *shape: int) -> States:
        """Return zeroed records whose fields have names, compiled and uncompiled."""
        return np.zeros(shape, dtype=np.dtype((np.record, self.state_dtype)))

    def legal_actions(self, state: State) -> list[Action]:
        """Return the legal actions of `state`."""
        out = np.zeros(self.max_legal, np.int32)
        count = self.rules.legal(state, out)
        return cast(list[int], out[:count].tolist())

    def position(self, text: str) -> State:
        """Return the state that `text` describes, or raise IllegalPosition."""
        state = self.new_states(1)[0]
        read = self.notation.read_position or self._read_moves
        read(state, text.strip())
        return state

    def _read_moves(self, state: State, text: str) -> None:
        for move in text:
            self.rules.play(state, self.read_move(state, move))

    def replay(self, actions: Iterable[Action]) -> State:
        """Return the state after `actions` from the start; each must be legal."""
        state = self.new_states(1)[0]
        for action in actions:
            if self.rules.outcome(state) != ONGOING or action not in self.legal_actions(state):
                raise IllegalPosition(f"{self.name}: action {action} is not legal here")
            self.rules.play(state, action)
        return state

    def show(self, state: State) -> str:
        """Return the board as text."""
        return self.notation.show(state)

    def read_move(self, state: State, text: str) -> Action:
        """Return the action that `text` describes, or raise IllegalPosition."""
        return self.notation.read_move(state, text)

    def write_move(self, state: State, action: Action) -> str:
        """Return a move as `read_move` reads it."""
        return self.notation.write_move(state, action)

    def write_san(self, state: State, action: Action) -> str:
        """Return a move as people write it: `Nf3` in chess, elsewhere as `write_move`."""
        return (self.notation.write_san or self.notation.write_move)(state, action)

    def write_position(self, state: State) -> str:
        """Return a position as `position` reads it."""
        if self.notation.write_position is None:
            raise ConfigError(f"{self.name} has no notation for positions")
        return self.notation.write_position(state)

    def read_games(self, text: str) -> list[GameRecord]:
        """Return the games in `text`, or raise IllegalPosition."""
        if self.notation.read_games is None:
            raise ConfigError(f"{self.name} has no notation for games")
        return self.notation.read_games(text)

    def write_games(self, records: Iterable[GameRecord]) -> str:
        """Return games as `read_games` reads them."""
        if self.notation.write_games is None:
            raise ConfigError(f"{self.name} has no notation for games")
        return self.notation.write_games(records)


def rules_digest(source: bytes) -> str:
    """Return the SHA-256 of the content of a rules file."""
    return hashlib.sha256(source).hexdigest()


def from_module(module: ModuleType, source: bytes = b"") -> Game:
    """Return the game that a rules module defines; InvalidRules names what is missing.

    `source` is the content of the module's file, or empty for a shipped game.
    """
    repetition: tuple[str, ...] = ("REPETITION_WINDOW", *REPETITION_FUNCTIONS)
    if not any(hasattr(module, name) for name in repetition):
        repetition = ()
    needed = (*TABLES, *FUNCTIONS, *repetition, *TEXT_FUNCTIONS)
    missing = [name for name in needed if not hasattr(module, name)]
    if missing:
        raise InvalidRules(getattr(module, "__file__", None) or module.__name__, missing)
    if not (isinstance(module.NAME, str) and NAMES.fullmatch(module.NAME)):
        raise ConfigError(f"NAME is {module.NAME!r}: expected a word, such as 'hexapawn'")
    compiled = (*FUNCTIONS, *(REPETITION_FUNCTIONS if repetition else ()))
    texts = [each.name for each in fields(Notation) if hasattr(module, each.name)]
    cells, actions = _read_symmetries(module.SYMMETRIES)
    policy_cells = getattr(module, "POLICY_CELLS", None)
    return Game(
        name=module.NAME,
        version=module.VERSION,
        path=Path(str(module.__file__)),
        rules=namespace(module.NAME, {name: getattr(module, name) for name in compiled}, source),
        notation=Notation(**{name: getattr(module, name) for name in texts}),
        state_dtype=np.dtype(module.STATE),
        num_actions=module.NUM_ACTIONS,
        max_legal=module.MAX_LEGAL,
        max_plies=module.MAX_PLIES,
        planes_shape=tuple(module.PLANES),
        cell_symmetries=cells,
        action_symmetries=actions,
        repetition_window=getattr(module, "REPETITION_WINDOW", 1),
        policy_cells=None if policy_cells is None else np.asarray(policy_cells),
        source=source,
    )


def _read_symmetries(pairs: Any) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the tables of cells [S, H * W] and of actions [S, A]."""
    try:
        cells, actions = (np.array(tables, np.int32) for tables in zip(*pairs, strict=True))
    except (TypeError, ValueError) as error:
        raise ConfigError(
            "SYMMETRIES cannot be read: expected pairs (cells, actions), at least the identity; "
            "all tables of cells must have the same length, and so must all tables of actions"
        ) from error
    return cells, actions


class InvalidRules(IllegalPosition):
    """A rules module that lacks something that every game must define."""

    def __init__(self, name: str, missing: list[str]) -> None:
        super().__init__(f"{name} is not a rules module: it lacks {', '.join(missing)}")
