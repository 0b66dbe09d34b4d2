"""Random lines of a game to check its promises on, and safe ways to ask its rules.

Buffers handed to the rules are larger than promised, so that rules that write too much are
caught here instead of damaging memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.games.game import ONGOING, Action, Game, State

LAST = 12  # actions of a long game that are shown
GUARD = 64  # cells beyond a buffer's end in which a stray write is noticed
UNTOUCHED = -99


class Broken(Exception):
    """A promise that is not kept."""


class Doubt(Exception):
    """A promise that is perhaps not kept."""


@dataclass(frozen=True)
class Trial:
    """A game, and random lines of play to check it on."""

    game: Game
    lines: list[list[Action]]
    stream: np.random.Generator

    def positions(self) -> Iterator[tuple[State, list[Action]]]:
        """Every position of every line, with the actions that lead there."""
        for line in self.lines:
            state = self.game.new_states(1)[0]
            yield state, []
            for ply, action in enumerate(line):
                self.game.rules.play(state, action)
                yield state, line[: ply + 1]


def random_line(game: Game, stream: np.random.Generator) -> list[Action]:
    """One random game, cut where the rules stop making sense: the promises say why."""
    state, line = game.new_states(1)[0], list[Action]()
    while game.rules.outcome(state) == ONGOING and len(line) <= game.max_plies:
        try:
            actions = legal_moves(game, game.rules, state)
        except Broken:
            break
        actions = [action for action in actions if 0 <= action < game.num_actions]
        if not actions:
            break
        line.append(int(stream.choice(actions)))
        game.rules.play(state, line[-1])
    return line


def require(condition: object, message: str) -> None:
    """Broken, saying `message`, unless `condition`."""
    if not condition:
        raise Broken(message)


def legal_moves(game: Game, rules: ModuleType, state: State) -> list[Action]:
    """What `legal` writes, into a buffer with room to spare."""
    out = np.full(game.num_actions + game.max_legal + GUARD, UNTOUCHED, np.int32)
    count = int(rules.legal(state, out))
    require(
        0 <= count <= game.max_legal,
        f"legal counts {count} moves, MAX_LEGAL is {game.max_legal}: raise it or mend the count",
    )
    require(
        (out[count:] == UNTOUCHED).all(),
        f"legal writes behind out[:{count}], the moves it counts: count every move it writes",
    )
    return [int(action) for action in out[:count]]


def planes_of(game: Game, rules: ModuleType, state: State, garbage: float = 0.0) -> NDArray[Any]:
    """What `planes` writes over `garbage`, between two guards."""
    size = int(np.prod(game.planes_shape))
    buffer = np.full(size + 2 * GUARD, garbage, np.float32)
    rules.planes(state, buffer[GUARD : GUARD + size].reshape(game.planes_shape))
    guards = np.concatenate([buffer[:GUARD], buffer[GUARD + size :]])
    require(
        (guards == np.float32(garbage)).all(),
        f"planes writes outside of PLANES = {game.planes_shape}: enlarge it or mend the indices",
    )
    return buffer[GUARD : GUARD + size].reshape(game.planes_shape)


def where(line: list[Action]) -> str:
    """The position that `line` leads to, in words."""
    if len(line) > LAST:
        return f"after {len(line)} actions, the last of them {line[-LAST:]}"
    return f"after actions {line}" if line else "in the first position"
