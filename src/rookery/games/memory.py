"""What games remember: which positions stood before, where the rules ask for it.

Rules whose positions may repeat offer `key(state)`, equal for equal positions; `quiet(state)`, how
many of the last positions could come back; and `recall(state, times)`, told after every move how
often the position stood before. Their MEMORY, a power of two, is more than `quiet` ever says.
"""

from functools import cache
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, compiled, namespace
from rookery.games.game import Game


class Memory(NamedTuple):
    """The positions before the present ones of G games.

    keys: [G, M] rings of `key`.
    counts: [G] positions remembered so far.
    """

    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]


def new_memory(game: Game, num_games: int) -> Memory:
    """Games that have just begun."""
    return Memory(np.zeros((num_games, game.memory), np.uint64), np.zeros(num_games, np.int64))


@compiled
def count_times(memory: Memory, g: Index, key: np.uint64, quiet: Index) -> Index:
    """How many of the last `quiet` positions of game g had `key`."""
    count, room, times = memory.counts[g], memory.keys.shape[1], np.int64(0)
    for back in range(1, min(quiet, count) + 1):
        times += memory.keys[g, (count - back) & (room - 1)] == key
    return times


@cache
def bind_memory(rules: ModuleType) -> ModuleType:
    """`play(memory, state, action, g)`: a move in game g that is remembered, where rules ask."""

    @compiled
    def play_only(memory, state, action, g):  # type: ignore[no-untyped-def]
        rules.play(state, action)

    @compiled
    def play_and_remember(memory, state, action, g):  # type: ignore[no-untyped-def]
        count, room = memory.counts[g], memory.keys.shape[1]
        memory.keys[g, count & (room - 1)] = rules.key(state)
        memory.counts[g] = count + 1
        rules.play(state, action)
        quiet = rules.quiet(state)
        if quiet > 0:
            rules.recall(state, count_times(memory, g, rules.key(state), quiet))

    play = play_and_remember if hasattr(rules, "key") else play_only
    return namespace(f"{rules.__name__}.memory", {"play": play})
