"""The search's scalar functions for all games at once, on CPU threads.

The casts keep one type of index, so that every function is compiled once.
"""

from functools import cache
from types import ModuleType

import numba
import numpy as np

from rookery.base import namespace, parallel
from rookery.search import simulate
from rookery.search.decide import scatter_by_action

NO_LIMIT = np.int64(2**62)


@cache
def bind(rules: ModuleType, method: str) -> ModuleType:
    """The steps of `simulate.bind`, and `spread`, over games, for one game, one way."""
    one = simulate.bind(rules, method)

    @parallel
    def begin(tree, simulations, num_games):  # type: ignore[no-untyped-def]
        for g in numba.prange(num_games):
            one.begin(tree, np.int64(simulations), np.int64(g))

    @parallel
    def descend(tree, settings, table, needs_net):  # type: ignore[no-untyped-def]
        for g in numba.prange(needs_net.shape[0]):
            needs_net[g] = one.descend(tree, settings, table, NO_LIMIT, np.int64(g))

    @parallel
    def gather(tree, games, planes):  # type: ignore[no-untyped-def]
        for row in numba.prange(games.shape[0]):
            one.write_planes(tree, np.int64(games[row]), planes[row])

    @parallel
    def ascend(tree, settings, games, logits, wdl):  # type: ignore[no-untyped-def]
        for row in numba.prange(games.shape[0]):
            one.ascend(tree, settings, np.int64(games[row]), logits[row], wdl[row])

    @parallel
    def find_ends(tree, num_games):  # type: ignore[no-untyped-def]
        for g in numba.prange(num_games):
            one.find_ends(tree, np.int64(g))

    @parallel
    def decide_all(tree, settings, num_games, actions, policy, values):  # type: ignore[no-untyped-def]
        for g in numba.prange(num_games):
            one.decide(tree, settings, np.int64(g), actions, policy, values)

    @parallel
    def spread_all(tree, num_games, policy, by_action, visits):  # type: ignore[no-untyped-def]
        for g in numba.prange(num_games):
            scatter_by_action(tree, np.int64(g), policy, by_action, visits)

    functions = {
        "begin": begin,
        "descend": descend,
        "gather": gather,
        "ascend": ascend,
        "find_ends": find_ends,
        "decide": decide_all,
        "spread": spread_all,
    }
    return namespace(f"{rules.__name__}.{method}.cpu", functions)
