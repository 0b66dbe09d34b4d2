"""A player that is a UCI engine. Only chess is spoken.

An engine that crashes, hangs or answers with what is no legal move forfeits the game it was asked
about. Engines that play below their strength draw their mistakes from the clock: no seed
makes them play the same games again.
"""

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Past
from rookery.arena.player import FORFEIT
from rookery.arena.players.engine import EngineFault, EngineSpec
from rookery.arena.players.engine_pool import Answer, EnginePool
from rookery.base import ConfigError, IllegalPosition
from rookery.games import Action, Game, State, States, plain_name

Line = tuple[Action, ...]
MOST_WRITTEN = 4096
LOOK_BACK = 12
"""Turns of its own within which a game is known again; others may have moved for it meanwhile."""


class UciPlayer:
    """Asks several processes of an engine; a game may be answered by any of them."""

    def __init__(self, game: Game, spec: EngineSpec, *, engines: int | None = None) -> None:
        if plain_name(game.name) != "chess":
            raise ConfigError(f"{spec.name} is a UCI engine and plays chess, not {game.name}")
        self.name = spec.name
        self.faults: list[str] = []
        self._game = game
        self._pool = EnginePool(spec, engines)
        self._written: dict[Line, tuple[State, str]] = {}
        """Lines that were asked about: the position after them, and how UCI writes it."""

    def choose(self, states: States, past: Past | None = None) -> NDArray[np.int32]:
        """[B] the engine's move for each state, or FORFEIT; why stands in `faults`."""
        self.faults = []
        answers = self._pool.answer(self._positions(states, past))
        chosen = [self._read(*each) for each in zip(states, answers, strict=True)]
        return np.array(chosen, np.int32)

    def _positions(self, states: States, past: Past | None) -> list[str]:
        if past is None:
            return [f"fen {self._game.write_position(state)}" for state in states]
        for line in list(self._written)[: max(0, len(self._written) - MOST_WRITTEN)]:
            del self._written[line]
        return [self._position(tuple(moves)) for moves in past.moves]

    def _position(self, line: Line) -> str:
        """`fen ... moves ...` from the last position that cannot come back.

        Engines spend more on reading a long game than on a short search. Most of the text was
        written when the game was last seen.
        """
        cuts = (line[:-back] for back in range(2, 2 * LOOK_BACK, 2))
        old = next((cut for cut in cuts if cut in self._written), ())
        first = (self._game.new_states(1)[0], "startpos moves")
        state, text = self._written.get(old, first)
        state = state.copy()
        for action in line[len(old) :]:
            text = f"{text} {self._game.write_move(state, action)}"
            self._game.rules.play(state, action)
            if not self._game.rules.reversible_plies(state):
                text = f"fen {self._game.write_position(state)} moves"
        self._written[line] = state, text
        return text

    def _read(self, state: State, answer: Answer) -> Action:
        """The action of an answer."""
        if isinstance(answer, EngineFault):
            return self._forfeit(str(answer))
        try:
            action: Action = self._game.read_move(state, answer)
        except IllegalPosition:
            position = self._game.write_position(state)
            return self._forfeit(f"answered {answer[:20]!r} in {position}, which is no legal move")
        return action

    def _forfeit(self, why: str) -> Action:
        self.faults.append(f"{self.name} {why}")
        return FORFEIT
