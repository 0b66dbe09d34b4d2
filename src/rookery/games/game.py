"""What a game offers: a rules module of scalar functions over one flat record, and its tables.

A rules module is plain Python. It defines

    NAME, VERSION     the version changes with the rules or the planes
    STATE             the record dtype of one position
    NUM_ACTIONS       size A of the policy; MAX_LEGAL the most moves in one position
    MAX_PLIES         the longest game; PLANES the shape (P, H, W) of what a net sees
    SYMMETRIES        pairs (cells, actions): tables [H * W] and [A], the identity first
    start(state)      set the first position
    legal(state, out) -> n      write the legal actions into out[:n], each once
    play(state, action)         make a move; the other player is to move afterwards
    outcome(state)    ONGOING, WIN, DRAW or LOSS for the player to move
    planes(state, out)          write float32 planes [P, H, W], seen by the player to move
    show(state), read_move(state, text), write_move(state, action)
    read_position(state, text)  where a position is not simply its moves, one character each;
    write_position(state)       with it, if positions have a notation of their own
    write_games(sheets), read_games(text)    where people keep games in a notation: `scoresheet`
    REPETITION_WINDOW, key(state), reversible_plies(state), set_repetitions(state, times)
                      where positions may repeat: see `repetitions`
    POLICY_CELLS      [A] plane * H * W + cell of each action, where a net may draw its policy
                      on the board rather than learn every action by itself

and is compiled through `rookery.base.compiled`. A value is for the player to move, everywhere.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rookery.base import ConfigError, IllegalPosition, namespace

State = Any  # one np.record of the game's STATE dtype
States = NDArray[Any]  # [G] records
Action = int

WIN, DRAW, LOSS, ONGOING = 1, 0, -1, 2

NAMES = re.compile(r"\w[\w:=. -]*")
FUNCTIONS = ("start", "legal", "play", "outcome", "planes")
REPETITION_FUNCTIONS = ("key", "reversible_plies", "set_repetitions")
TEXT = ("show", "read_move", "write_move")
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
class Game:
    """A rules module with its tables read out, ready for kernels (`rules`) and for people."""

    name: str
    version: int
    rules: ModuleType
    """The compiled functions, as a namespace that kernels may close over."""
    module: ModuleType
    """The module as it was written."""
    state_dtype: np.dtype[Any]
    num_actions: int
    max_legal: int
    max_plies: int
    planes_shape: tuple[int, int, int]
    cell_symmetries: NDArray[np.int32]
    """[K, H * W] plane cells: new[c] = old[cell_symmetries[k, c]]."""
    action_symmetries: NDArray[np.int32]
    """[K, A] actions: new[a] = old[action_symmetries[k, a]]."""
    repetition_window: int
    """Positions that a game must remember: a power of two, 1 where none comes back."""
    policy_cells: NDArray[np.int64] | None
    """[A] where a net draws each action on the board, if the rules say so."""
    source: bytes = field(repr=False)
    """The content of the rules file that was executed; empty for a shipped game."""

    @property
    def digest(self) -> str:
        """The SHA-256 of the rules file; empty for a shipped game."""
        return rules_digest(self.source) if self.source else ""

    def new_states(self, count: int) -> States:
        """`count` first positions."""
        states = self.blank_states(count)
        for state in states:
            self.rules.start(state)
        return states

    def blank_states(self, *shape: int) -> States:
        """Zeroed records, readable by field name compiled and uncompiled."""
        return np.zeros(shape, dtype=np.dtype((np.record, self.state_dtype)))

    def legal_actions(self, state: State) -> list[Action]:
        """The legal actions of `state`."""
        out = np.zeros(self.max_legal, np.int32)
        count = self.rules.legal(state, out)
        return cast(list[int], out[:count].tolist())

    def position(self, text: str) -> State:
        """The state that `text` describes, or IllegalPosition."""
        state = self.new_states(1)[0]
        read = getattr(self.module, "read_position", self._read_moves)
        read(state, text.strip())
        return state

    def _read_moves(self, state: State, text: str) -> None:
        for move in text:
            self.rules.play(state, self.module.read_move(state, move))

    def replay(self, actions: Iterable[Action]) -> State:
        """The state after `actions` from the start; each must be legal."""
        state = self.new_states(1)[0]
        for action in actions:
            if self.rules.outcome(state) != ONGOING or action not in self.legal_actions(state):
                raise IllegalPosition(f"{self.name}: action {action} is not legal here")
            self.rules.play(state, action)
        return state


def rules_digest(source: bytes) -> str:
    """Return the SHA-256 of a rules file's content."""
    return hashlib.sha256(source).hexdigest()


def from_module(module: ModuleType, source: bytes = b"") -> Game:
    """Read a rules module's tables; ConfigError names what is missing.

    `source` is the content of the file that it comes from, unless the game is a shipped one.
    """
    repeats = (
        REPETITION_FUNCTIONS
        if any(hasattr(module, name) for name in ("REPETITION_WINDOW", *REPETITION_FUNCTIONS))
        else ()
    )
    sizes = ("REPETITION_WINDOW",) if repeats else ()
    needed = (*TABLES, *sizes, *FUNCTIONS, *repeats, *TEXT)
    missing = [name for name in needed if not hasattr(module, name)]
    if missing:
        raise InvalidRules(getattr(module, "__file__", None) or module.__name__, missing)
    functions = {name: getattr(module, name) for name in (*FUNCTIONS, *repeats)}
    if not (isinstance(module.NAME, str) and NAMES.fullmatch(module.NAME)):
        raise ConfigError(f"NAME is {module.NAME!r}: expected a word, as in 'hexapawn'")
    cells, actions = _read_symmetries(module.SYMMETRIES)
    policy_cells = getattr(module, "POLICY_CELLS", None)
    return Game(
        name=module.NAME,
        version=module.VERSION,
        rules=namespace(module.NAME, functions, source),
        module=module,
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
    """[S, H * W] where cells go, and [S, A] where actions go."""
    try:
        cells, actions = (np.array(tables, np.int32) for tables in zip(*pairs, strict=True))
    except (TypeError, ValueError) as error:
        raise ConfigError(
            "SYMMETRIES cannot be read: expected pairs (cells, actions), every table of cells as "
            "long as the others, and every table of actions; the identity is always one"
        ) from error
    return cells, actions


class InvalidRules(IllegalPosition):
    """A rules module that lacks something every game must offer."""

    def __init__(self, name: str, missing: list[str]) -> None:
        super().__init__(f"{name} is not a rules module: it lacks {', '.join(missing)}")
