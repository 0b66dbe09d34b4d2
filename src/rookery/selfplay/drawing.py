"""Random moves: openings that make games differ, and moves drawn from the policy.

A move of an opening is drawn again, a few times, if it ends the game or lets the opponent win at
once: such positions teach little.
"""

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, compiled, namespace, uniform
from rookery.games import LOSS, ONGOING, bind_repetitions

Streams = NDArray[np.uint64]
TRIES = 8
MIN_ROWS = 2
"""Openings are drawn in the rows that the game will fill, and need this many."""
NO_MOVE = np.int64(-1)


@compiled
def draw_index(
    policy: NDArray[np.float32], count: Index, temperature: float, streams: Streams, g: Index
) -> int:
    """Draw one of the first `count` indices with probability policy ** (1 / temperature)."""
    total = 0.0
    for index in range(count):
        total += policy[index] ** (1.0 / temperature)
    mark = uniform(streams, g) * total
    last = 0
    for index in range(count):
        if policy[index] > 0:
            last = index
            mark -= policy[index] ** (1.0 / temperature)
            if mark < 0:
                break
    return last


@compiled
def draw_opening_plies(share: float, most: int, streams: Streams, g: Index) -> int:
    """Draw how many random moves the next game begins with."""
    if uniform(streams, g) >= share:
        return 0
    return min(1 + int(uniform(streams, g) * most), most)


def bind_openings(rules: ModuleType) -> ModuleType:
    """Return `open_game(states, repetitions, plies, scratch, legal, streams, g)` for a game."""

    @compiled
    def can_win(state, spare, legal):  # type: ignore[no-untyped-def]
        """Return whether the player to move wins with one move; `spare` holds one state."""
        count = rules.legal(state, legal)
        for i in range(count):
            spare[0] = state
            rules.play(spare[0], legal[i])
            if rules.outcome(spare[0]) == LOSS:
                return True
        return False

    threats = namespace(f"{rules.__name__}.threats", [can_win])

    @compiled
    def draw_ply(state, scratch, legal, streams, g):  # type: ignore[no-untyped-def]
        """Leave the position after a random move in scratch[0]; return the move or NO_MOVE."""
        action, is_ongoing = NO_MOVE, False
        for _ in range(TRIES):
            count = rules.legal(state, legal)
            action = np.int64(legal[min(int(uniform(streams, g) * count), count - 1)])
            scratch[0] = state
            rules.play(scratch[0], action)
            is_ongoing = rules.outcome(scratch[0]) == ONGOING
            if is_ongoing and not threats.can_win(scratch[0], scratch[1:], legal):
                break
        return action if is_ongoing else NO_MOVE

    repeats = bind_repetitions(rules)
    plies_of = namespace(f"{rules.__name__}.plies", [draw_ply])

    @compiled
    def open_game(states, repetitions, plies, scratch, legal, streams, g):  # type: ignore[no-untyped-def]
        """Set states[g] to a start followed by `plies` moves; return whether the game goes on."""
        rules.start(states[g])
        repetitions.counts[g] = 0
        for _ in range(plies):
            action = plies_of.draw_ply(states[g], scratch, legal, streams, g)
            if action == NO_MOVE:
                return False
            repeats.play(repetitions, states[g], action, g)
        return True

    return namespace(f"{rules.__name__}.openings", [open_game])
