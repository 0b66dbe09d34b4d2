"""Repetition of positions.

Rules whose positions can repeat define `key(state)`, equal for equal positions;
`reversible_plies(state)`, the number of plies since the last irreversible move; and
`set_repetitions(state, times)`, called after every move with the number of earlier occurrences of
the position. Their REPETITION_WINDOW, a power of two, exceeds every value of `reversible_plies`.
"""

from functools import cache
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, compiled, namespace
from rookery.games.game import Game


class Repetitions(NamedTuple):
    """The keys of the earlier positions of G games.

    keys: [G, REPETITION_WINDOW] circular buffers of `key`.
    counts: [G] number of keys written so far.
    """

    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]


def new_repetitions(game: Game, num_games: int) -> Repetitions:
    """Return empty buffers for games that start."""
    return Repetitions(
        np.zeros((num_games, game.repetition_window), np.uint64), np.zeros(num_games, np.int64)
    )


@compiled
def count_repetitions(
    repetitions: Repetitions, g: Index, key: np.uint64, reversible_plies: Index
) -> Index:
    """Return how many of the last `reversible_plies` positions of game g have `key`."""
    count, window, times = repetitions.counts[g], repetitions.keys.shape[1], np.int64(0)
    for back in range(1, min(reversible_plies, count) + 1):
        times += repetitions.keys[g, (count - back) & (window - 1)] == key
    return times


@cache
def bind_repetitions(rules: ModuleType) -> ModuleType:
    """Return `play(repetitions, state, action, g)`: make a move in game g, count repetitions."""

    @compiled
    def play_uncounted(repetitions, state, action, g):  # type: ignore[no-untyped-def]
        rules.play(state, action)

    @compiled
    def play_counted(repetitions, state, action, g):  # type: ignore[no-untyped-def]
        count, window = repetitions.counts[g], repetitions.keys.shape[1]
        repetitions.keys[g, count & (window - 1)] = rules.key(state)
        repetitions.counts[g] = count + 1
        rules.play(state, action)
        reversible_plies = rules.reversible_plies(state)
        if reversible_plies > 0:
            rules.set_repetitions(
                state, count_repetitions(repetitions, g, rules.key(state), reversible_plies)
            )

    play = play_counted if hasattr(rules, "key") else play_uncounted
    return namespace(f"{rules.__name__}.repetitions", {"play": play})
