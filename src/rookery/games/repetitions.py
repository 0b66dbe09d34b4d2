"""Repetition of positions, where the rules ask for it.

Such rules offer `key(state)`, equal for equal positions; `reversible_plies(state)`, how many of the
last plies can be reversed, so that their positions can occur again; and
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
    """The positions before the present ones of G games.

    keys: [G, M] rings of `key`.
    counts: [G] positions remembered so far.
    """

    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]


def new_repetitions(game: Game, num_games: int) -> Repetitions:
    """Games that have just begun."""
    return Repetitions(
        np.zeros((num_games, game.repetition_window), np.uint64), np.zeros(num_games, np.int64)
    )


@compiled
def count_repetitions(
    repetitions: Repetitions, g: Index, key: np.uint64, reversible_plies: Index
) -> Index:
    """How many of the last `reversible_plies` positions of game g had `key`."""
    count, room, times = repetitions.counts[g], repetitions.keys.shape[1], np.int64(0)
    for back in range(1, min(reversible_plies, count) + 1):
        times += repetitions.keys[g, (count - back) & (room - 1)] == key
    return times


@cache
def bind_repetitions(rules: ModuleType) -> ModuleType:
    """`play(memory, state, action, g)`: a move in game g that is remembered, where rules ask."""

    @compiled
    def play_only(repetitions, state, action, g):  # type: ignore[no-untyped-def]
        rules.play(state, action)

    @compiled
    def play_and_remember(repetitions, state, action, g):  # type: ignore[no-untyped-def]
        count, room = repetitions.counts[g], repetitions.keys.shape[1]
        repetitions.keys[g, count & (room - 1)] = rules.key(state)
        repetitions.counts[g] = count + 1
        rules.play(state, action)
        reversible_plies = rules.reversible_plies(state)
        if reversible_plies > 0:
            rules.set_repetitions(
                state, count_repetitions(repetitions, g, rules.key(state), reversible_plies)
            )

    play = play_and_remember if hasattr(rules, "key") else play_only
    return namespace(f"{rules.__name__}.memory", {"play": play})
