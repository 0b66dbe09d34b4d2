"""Random games to check rules on, and guarded calls of the rules.

The rules write into buffers that are larger than necessary, so that a write out of bounds is
reported here and does not damage memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.games.game import ONGOING, Action, Game, State

MAX_MOVES = 1_500
"""No further game is started after this many moves."""
MAX_SHOWN = 12  # actions of a long game that a message shows
GUARD = 64  # entries on either side of a buffer in which a write out of bounds is noticed
UNTOUCHED = -99


class CheckFailed(Exception):
    """The rules are wrong."""


class CheckWarning(Exception):
    """The rules may be wrong."""


@dataclass(frozen=True)
class RandomGames:
    """A game, and random lines of play to check it on."""

    game: Game
    lines: list[list[Action]]
    rng: np.random.Generator

    def play(self, count: int) -> str:
        """Add `count` random games, or fewer if they are long; return a summary."""
        moves = 0
        while len(self.lines) < count and moves < MAX_MOVES:
            self.lines.append(_play_random_game(self.game, self.rng))
            moves += len(self.lines[-1])
        return f"{len(self.lines)} random games, {moves} moves"

    def positions(self) -> Iterator[tuple[State, list[Action]]]:
        """Yield every position of every line with the actions that lead to it."""
        for line in self.lines:
            state = self.game.new_states(1)[0]
            yield state, []
            for ply, action in enumerate(line):
                self.game.rules.play(state, action)
                yield state, line[: ply + 1]


def _play_random_game(game: Game, rng: np.random.Generator) -> list[Action]:
    """Return the actions of one random game, cut short where the rules are wrong."""
    state, line = game.new_states(1)[0], list[Action]()
    while game.rules.outcome(state) == ONGOING and len(line) <= game.max_plies:
        try:
            actions = legal_moves(game, game.rules, state)
        except CheckFailed:
            break
        actions = [action for action in actions if 0 <= action < game.num_actions]
        if not actions:
            break
        line.append(int(rng.choice(actions)))
        game.rules.play(state, line[-1])
    return line


def require(condition: object, message: str) -> None:
    """Raise CheckFailed with `message` unless `condition` holds."""
    if not condition:
        raise CheckFailed(message)


def legal_moves(game: Game, rules: ModuleType, state: State) -> list[Action]:
    """Return what `legal` writes into a guarded buffer."""
    out = np.full(game.num_actions + game.max_legal + GUARD, UNTOUCHED, np.int32)
    count = int(rules.legal(state, out))
    require(
        0 <= count <= game.max_legal,
        f"legal returns {count} moves, but MAX_LEGAL is {game.max_legal}: raise MAX_LEGAL or fix"
        " the count",
    )
    require(
        (out[count:] == UNTOUCHED).all(),
        f"legal writes beyond out[:{count}], the moves that it counts: count every move",
    )
    return [int(action) for action in out[:count]]


def planes_of(game: Game, rules: ModuleType, state: State, garbage: float = 0.0) -> NDArray[Any]:
    """Return what `planes` writes over `garbage` in a guarded buffer."""
    size = int(np.prod(game.planes_shape))
    buffer = np.full(size + 2 * GUARD, garbage, np.float32)
    rules.planes(state, buffer[GUARD : GUARD + size].reshape(game.planes_shape))
    guards = np.concatenate([buffer[:GUARD], buffer[GUARD + size :]])
    require(
        (guards == np.float32(garbage)).all(),
        f"planes writes outside of PLANES = {game.planes_shape}: enlarge PLANES or fix the indices",
    )
    return buffer[GUARD : GUARD + size].reshape(game.planes_shape)


def after(line: list[Action]) -> str:
    """Describe the position that `line` leads to."""
    if len(line) > MAX_SHOWN:
        return f"after {len(line)} actions, the last of them {line[-MAX_SHOWN:]}"
    return f"after actions {line}" if line else "in the first position"
