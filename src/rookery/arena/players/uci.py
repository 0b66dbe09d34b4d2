"""A chess player that is a UCI engine.

An engine that crashes, hangs or returns an illegal move forfeits the game. Engines at reduced
strength take their randomness from the clock, so no seed repeats their games.
"""

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Histories
from rookery.arena.player import FORFEIT
from rookery.arena.players.engine import BestMove, EngineError, EnginePool
from rookery.arena.players.engine_spec import EngineSpec
from rookery.base import ConfigError, IllegalPosition
from rookery.games import Action, Game, State, States, plain_name

Line = tuple[Action, ...]
MAX_CACHED_LINES = 4096
MAX_TURNS_BACK = 12
"""How far back to look for a cached line; another player may have moved in between."""


class UciPlayer:
    """Plays with a pool of engine processes; any of them may search any of the games."""

    def __init__(self, game: Game, spec: EngineSpec, *, engines: int | None = None) -> None:
        if plain_name(game.name) != "chess":
            raise ConfigError(f"{spec.name} is a UCI engine and plays chess, not {game.name}")
        self.name = spec.name
        self.faults: list[str] = []
        self._game = game
        self._pool = EnginePool(spec, engines)
        self._cache: dict[Line, tuple[State, str]] = {}
        """For lines that were searched: the position after them, and its UCI notation."""

    def choose(self, states: States, histories: Histories | None = None) -> NDArray[np.int32]:
        """Return [G] the moves of the engine, or FORFEIT with a reason in `faults`."""
        self.faults = []
        moves = self._pool.best_moves(self._positions(states, histories))
        actions = [self._read_action(*each) for each in zip(states, moves, strict=True)]
        return np.array(actions, np.int32)

    def _positions(self, states: States, histories: Histories | None) -> list[str]:
        if histories is None:
            return [f"fen {self._game.write_position(state)}" for state in states]
        for line in list(self._cache)[: max(0, len(self._cache) - MAX_CACHED_LINES)]:
            del self._cache[line]
        return [self._position(tuple(moves)) for moves in histories.moves]

    def _position(self, line: Line) -> str:
        """Return `fen ... moves ...` from the last position before which nothing can repeat.

        Engines need more time to read a long game than for a shallow search. Most of the text
        comes from the cache.
        """
        prefixes = (line[:-back] for back in range(2, 2 * MAX_TURNS_BACK, 2))
        known = next((prefix for prefix in prefixes if prefix in self._cache), ())
        start = (self._game.new_states(1)[0], "startpos moves")
        state, text = self._cache.get(known, start)
        state = state.copy()
        for action in line[len(known) :]:
            text = f"{text} {self._game.write_move(state, action)}"
            self._game.rules.play(state, action)
            if not self._game.rules.reversible_plies(state):
                text = f"fen {self._game.write_position(state)} moves"
        self._cache[line] = state, text
        return text

    def _read_action(self, state: State, move: BestMove) -> Action:
        if isinstance(move, EngineError):
            return self._forfeit(str(move))
        try:
            action: Action = self._game.read_move(state, move)
        except IllegalPosition:
            position = self._game.write_position(state)
            return self._forfeit(f"answered {move[:20]!r} in {position}, which is no legal move")
        return action

    def _forfeit(self, reason: str) -> Action:
        self.faults.append(f"{self.name} {reason}")
        return FORFEIT
