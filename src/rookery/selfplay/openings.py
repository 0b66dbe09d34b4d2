"""Random openings: what makes the games of self-play differ from their first move on.

A move of an opening is drawn at random, but drawn again (a few times) if it ends the game or lets
the opponent win at once: such positions teach little.
"""

from types import ModuleType

import numpy as np

from rookery.base import compiled, namespace, uniform
from rookery.games import LOSS, ONGOING, bind_repetitions

TRIES = 8
NONE = np.int64(-1)
FEWEST_ROWS = 2
"""Openings are drawn in the rows that a game will fill, and need at least two."""


def bind(rules: ModuleType) -> ModuleType:
    """`open_game(states, memory, plies, scratch, legal, streams, g)` for the game of `rules`."""

    @compiled
    def can_win(state, spare, legal):  # type: ignore[no-untyped-def]
        """Whether the player to move wins with one move; `spare` holds one state."""
        count = rules.legal(state, legal)
        for i in range(count):
            spare[0] = state
            rules.play(spare[0], legal[i])
            if rules.outcome(spare[0]) == LOSS:
                return True
        return False

    sight = namespace(f"{rules.__name__}.sight", {"can_win": can_win})

    @compiled
    def draw_ply(state, scratch, legal, streams, g):  # type: ignore[no-untyped-def]
        """Leave the position after a random move in scratch[0]; the move, or NONE if it ends."""
        action, is_going_on = NONE, False
        for _ in range(TRIES):
            count = rules.legal(state, legal)
            action = np.int64(legal[min(int(uniform(streams, g) * count), count - 1)])
            scratch[0] = state
            rules.play(scratch[0], action)
            is_going_on = rules.outcome(scratch[0]) == ONGOING
            if is_going_on and not sight.can_win(scratch[0], scratch[1:], legal):
                break
        return action if is_going_on else NONE

    repeats = bind_repetitions(rules)
    plies_of = namespace(f"{rules.__name__}.plies", {"draw_ply": draw_ply})

    @compiled
    def open_game(states, repetitions, plies, scratch, legal, streams, g):  # type: ignore[no-untyped-def]
        """Set states[g] to a start followed by `plies` moves; whether the game still goes on."""
        rules.start(states[g])
        repetitions.counts[g] = 0
        for _ in range(plies):
            action = plies_of.draw_ply(states[g], scratch, legal, streams, g)
            if action == NONE:
                return False
            repeats.play(repetitions, states[g], action, g)
        return True

    return namespace(f"{rules.__name__}.openings", {"open_game": open_game})
