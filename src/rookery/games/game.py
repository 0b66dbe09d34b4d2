"""A game: a rules module of scalar functions over one flat record, and its tables.

A rules module is plain Python, compiled by `rookery.base.compiled`. It defines

    NAME              a word
    STATE             record dtype of one position
    NUM_ACTIONS       size A of the policy
    MAX_PLIES         length of the longest game
    PLANES            shape (P, H, W) of the network's input
    start(state)      set the first position
    legal(state, out) -> n      write the legal actions into out[:n], each once
    play(state, action)         make a move; the other player is to move afterwards
    outcome(state)    return ONGOING, WIN, DRAW or LOSS for the player to move
    planes(state, out)          write float32 planes [P, H, W] as the player to move sees them

Rules files of users may omit the following; `defaults` then adds it:

    VERSION           1; raise it when the rules or the planes change
    MAX_LEGAL         largest number of legal moves in one position; NUM_ACTIONS
    SYMMETRIES        pairs (cells, actions) of tables [H * W] and [A]; the identity, always first
    show(state)       return the board as text; the fields of the state
    write_move(state, action)   the number of the action
    read_move(state, text)      the legal action that `write_move` writes in this way

It may also define

    read_position(state, text)  if a position is not just its moves, one character each
    write_position(state)       if positions have a notation of their own, such as FEN
    write_san(state, action)    if people write moves differently from `write_move`
    turn(state)                 0 or 1, the player to move, if positions have their own notation
    board(state)                rows of signs, one text per cell, for boards in the browser
    move_cells(state, action)   cells (x, y) that a move comes from and goes to, or None
    read_games(text), write_games(records)    if games have a notation, such as PGN
    REPETITION_WINDOW, key(state), reversible_plies(state), set_repetitions(state, times)
                      if positions can repeat (see `repetitions`)
    POLICY_CELLS      [A] plane * H * W + cell of each action, for a convolutional policy head

Values are always for the player to move.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rookery.base import ConfigError, IllegalPosition, generator, namespace

State = Any  # one np.record of the game's STATE dtype
States = NDArray[Any]  # [G] records
Action = int

WIN, DRAW, LOSS, ONGOING = 1, 0, -1, 2
RESULTS = {"1-0": WIN, "0-1": LOSS, "1/2-1/2": DRAW, "*": ONGOING}
"""Results of game records, for the first player, by their texts."""
RESULT_TEXTS = {result: text for text, result in RESULTS.items()}

NAMES = re.compile(r"\w[\w:=.,;() -]*")
RANDOM_PLIES = 100
"""Random positions are fewer plies than this from the start."""
SIZES = ("NUM_ACTIONS", "MAX_LEGAL", "MAX_PLIES", "PLANES")
TABLES = ("NAME", "VERSION", "STATE", *SIZES, "SYMMETRIES")
FUNCTIONS = ("start", "legal", "play", "outcome", "planes")
REPETITION_FUNCTIONS = ("key", "reversible_plies", "set_repetitions")
TEXT_FUNCTIONS = ("show", "read_move", "write_move")
OPTIONAL_TEXT_FUNCTIONS = (
    "read_position",
    "write_position",
    "read_games",
    "write_games",
    "turn",
    "board",
    "move_cells",
)


@dataclass(frozen=True)
class GameRecord:
    """One game as people keep it, for `Game.read_games` and `Game.write_games`."""

    actions: tuple[Action, ...]
    result: int
    """WIN, DRAW or LOSS for the first player, or ONGOING if the game was not finished."""
    start: str = ""
    """The first position in the notation of the game; empty for the usual one."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further facts about the game by name, such as White and Black."""


@dataclass(frozen=True, repr=False)
class Game:
    """The rules of a game for kernels (`rules`), and methods for everything else."""

    name: str
    version: int
    path: Path
    """The file that defines the rules."""
    rules: ModuleType
    """The compiled functions, as a namespace that kernels may close over."""
    show: Callable[[State], str]
    """Return the board as text."""
    read_move: Callable[[State, str], Action]
    """Return the action that a text describes, or raise IllegalPosition."""
    write_move: Callable[[State, Action], str]
    """Return a move as `read_move` reads it."""
    write_san: Callable[[State, Action], str]
    """Return a move as people write it: `Nf3` in chess, elsewhere as `write_move`."""
    notation: Mapping[str, Callable[..., Any]]
    """Those of the optional text functions that the rules define, by name."""
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
    source: bytes
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
        return "write_position" in self.notation

    @property
    def has_game_notation(self) -> bool:
        """Whether `read_games` and `write_games` are available."""
        return "read_games" in self.notation and "write_games" in self.notation

    def __repr__(self) -> str:
        planes = " x ".join(map(str, self.planes_shape))
        return f"<Game {self.name}, {self.num_actions} actions, planes {planes}>"

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

    def random_states(self, count: int, *, seed: int) -> States:
        """Return `count` positions of random games, none of them at an end."""
        stream, states = generator(seed, "random states"), self.new_states(count)
        for number in range(count):
            for _ in range(int(stream.integers(min(self.max_plies, RANDOM_PLIES)))):
                after = states[number].copy()
                self.rules.play(after, int(stream.choice(self.legal_actions(after))))
                if self.rules.outcome(after) != ONGOING:
                    break
                states[number] = after
        return states

    def planes(self, states: States) -> NDArray[np.float32]:
        """Return what networks see of `states` [G]: planes [G, P, H, W] for the player to move."""
        self.check_states(states)
        planes = np.zeros((len(states), *self.planes_shape), np.float32)
        for state, out in zip(states, planes, strict=True):
            self.rules.planes(state, out)
        return planes

    def check_states(self, states: States) -> None:
        """Raise ConfigError unless `states` is an array [G] of positions of this game."""
        if getattr(states, "dtype", None) != self.state_dtype or states.ndim != 1:
            raise ConfigError(
                f"the states are not an array [G] of positions of {self.name}; "
                "game.random_states makes one, np.stack([board.state]) too"
            )

    def turn(self, state: State) -> int:
        """Return the player to move in a first position: 0, or 1 if its notation says so."""
        return int(self.notation["turn"](state)) if "turn" in self.notation else 0

    def position(self, text: str) -> State:
        """Return the state that `text` describes, or raise IllegalPosition."""
        state = self.new_states(1)[0]
        if read := self.notation.get("read_position"):
            read(state, text.strip())
        else:
            for move in text.strip():
                self.rules.play(state, self.read_move(state, move))
        return state

    def replay(self, actions: Iterable[Action]) -> State:
        """Return the state after `actions` from the start; each must be legal."""
        state = self.new_states(1)[0]
        for action in actions:
            if self.rules.outcome(state) != ONGOING or action not in self.legal_actions(state):
                raise IllegalPosition(f"{self.name}: action {action} is not legal here")
            self.rules.play(state, action)
        return state

    def write_position(self, state: State) -> str:
        """Return a position as `position` reads it."""
        return cast(str, self._text_function("write_position", "positions")(state))

    def read_games(self, text: str) -> list[GameRecord]:
        """Return the games in `text`, or raise IllegalPosition."""
        return cast(list[GameRecord], self._text_function("read_games", "games")(text))

    def write_games(self, records: Iterable[GameRecord]) -> str:
        """Return games as `read_games` reads them."""
        return cast(str, self._text_function("write_games", "games")(records))

    def _text_function(self, name: str, kind: str) -> Callable[..., Any]:
        if name not in self.notation:
            raise ConfigError(f"{self.name} has no notation for {kind}")
        return self.notation[name]


def rules_digest(source: bytes) -> str:
    """Return the SHA-256 of the content of a rules file."""
    return hashlib.sha256(source).hexdigest()


def from_module(module: ModuleType, source: bytes = b"") -> Game:
    """Return the game that a rules module defines; IllegalPosition names what is missing.

    `source` is the content of the module's file, or empty for a shipped game.
    """
    repetition: tuple[str, ...] = ("REPETITION_WINDOW", *REPETITION_FUNCTIONS)
    if not any(hasattr(module, name) for name in repetition):
        repetition = ()
    needed = (*TABLES, *FUNCTIONS, *repetition, *TEXT_FUNCTIONS)
    if missing := [name for name in needed if not hasattr(module, name)]:
        name = getattr(module, "__file__", None) or module.__name__
        raise IllegalPosition(f"{name} is not a rules module: it lacks {', '.join(missing)}")
    if not (isinstance(module.NAME, str) and NAMES.fullmatch(module.NAME)):
        raise ConfigError(f"NAME is {module.NAME!r}: expected a word, such as 'hexapawn'")
    compiled = (*FUNCTIONS, *repetition[1:])
    texts = [name for name in OPTIONAL_TEXT_FUNCTIONS if hasattr(module, name)]
    cells, actions = _read_symmetries(module.SYMMETRIES)
    policy_cells = getattr(module, "POLICY_CELLS", None)
    return Game(
        name=module.NAME,
        version=module.VERSION,
        path=Path(str(module.__file__)),
        rules=namespace(module.NAME, {name: getattr(module, name) for name in compiled}, source),
        show=module.show,
        read_move=module.read_move,
        write_move=module.write_move,
        write_san=getattr(module, "write_san", module.write_move),
        notation={name: getattr(module, name) for name in texts},
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
