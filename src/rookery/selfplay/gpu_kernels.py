"""Self-play kernels for a GPU: every game searches, moves, ends and restarts at its own pace.

A wave is one simulation of every game. A game whose search is done moves and begins the next
search in the same wave, independent of the others, so that every row of the network's batch is a
leaf that some search needs. Games that have ended wait a few waves for `renew`; `collect` gathers
their rows. A game that finds no space in the output waits for the next collection.
"""

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from rookery.base import compiled, namespace
from rookery.games import ONGOING
from rookery.gpu import cuda, kernel
from rookery.search import (
    FREE_SIMULATIONS,
    DecisionArrays,
    bind_simulation,
    follow_move,
    repetitions_of,
)
from rookery.selfplay.games import Games, count_finished, take_finished
from rookery.selfplay.kernels import SelfPlayParams, bind_one
from rookery.selfplay.misjudged import Misjudged


class Schedule(NamedTuple):
    """The schedule of simulations, as kernels take it. A search keeps the step it began in.

    simulations: [K] simulations per move, by step of the schedule.
    tables: [K, M + 1, S] `visit_table` of each.
    step: [1] the present step.
    step_of_game: [G] the step of each search.
    """

    simulations: Any
    tables: Any
    step: Any
    step_of_game: Any


class Arena(NamedTuple):
    """Everything that G games on a GPU consist of."""

    tree: Any
    settings: Any
    games: Games
    misjudged: Misjudged
    roots: Any
    found: DecisionArrays
    params: SelfPlayParams
    schedule: Schedule
    positions: Any
    """[G] positions searched so far."""


def _bind_steps(rules: ModuleType, method: str, *, proves_leaves: bool) -> ModuleType:
    search, play = bind_simulation(rules, method, proves_leaves=proves_leaves), bind_one(rules)
    name = f"{rules.__name__}.{method}.{proves_leaves}"

    @compiled
    def begin(arena, g):  # type: ignore[no-untyped-def]
        """Begin to search the position of game g, by the present step of the schedule."""
        arena.tree.states[g, 0] = arena.roots[g]
        step = arena.schedule.step[0]
        arena.schedule.step_of_game[g] = step
        simulations = np.int64(arena.schedule.simulations[step])
        search.begin(arena.tree, arena.settings, simulations, g)

    searches = namespace(f"{name}.searches", [begin])

    @compiled
    def move(arena, g):  # type: ignore[no-untyped-def]
        """Make the move that the search of game g has found, and search the next position."""
        tree, games = arena.tree, arena.games
        search.decide(tree, arena.settings, g, arena.found)
        play.advance(games, arena.roots, repetitions_of(tree), arena.found, arena.params, g)
        arena.positions[g] += 1
        if games.results[g] == ONGOING:
            row = games.firsts[g] + games.lengths[g] - 1
            follow_move(tree, g, np.int64(games.rows.moves[g, row]))
            searches.begin(arena, g)

    @compiled
    def renew(arena, g):  # type: ignore[no-untyped-def]
        """Start a new game in place of game g, behind the rows of the last one."""
        arena.games.firsts[g] += arena.games.lengths[g]
        repetitions = repetitions_of(arena.tree)
        play.restart(arena.games, arena.roots, repetitions, arena.misjudged, arena.params, g)
        searches.begin(arena, g)

    return namespace(f"{name}.steps", [begin, move, renew])


@cache
def bind(rules: ModuleType, method: str, *, proves_leaves: bool) -> ModuleType:
    """Return `begin`, `find_done`, `step`, `renew` and `collect` as kernels, for one game."""
    search = bind_simulation(rules, method, proves_leaves=proves_leaves)
    one = _bind_steps(rules, method, proves_leaves=proves_leaves)

    @kernel
    def begin(arena):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < arena.roots.shape[0] and arena.games.results[g] == ONGOING:
            one.begin(arena, np.int64(g))

    @kernel
    def find_done(arena, is_done):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < is_done.shape[0]:
            is_done[g] = arena.tree.searches[g].simulations_left == 0

    @kernel
    def step(arena, is_done, needs_net):  # type: ignore[no-untyped-def]
        """Two threads per game: one descends; if the search is done, the other one moves first.

        The few games that move are in warps of their own, beside those that descend.
        """
        thread, count = cuda.grid(1), is_done.shape[0]
        is_mover = thread >= count
        g = np.int64(thread - count if is_mover else thread)
        if g < count and is_done[g] == is_mover:
            if is_mover and arena.games.results[g] == ONGOING:
                one.move(arena, g)
            table = arena.schedule.tables[arena.schedule.step_of_game[g]]
            needs_net[g] = search.descend(arena.tree, arena.settings, table, FREE_SIMULATIONS, g)

    @kernel
    def renew(arena, max_plies):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < arena.roots.shape[0] and arena.games.results[g] != ONGOING:
            row = arena.games.firsts[g] + arena.games.lengths[g]
            if row + max_plies <= arena.games.rows.moves.shape[1]:
                one.renew(arena, np.int64(g))

    @kernel
    def collect(games, rows, used, iteration):  # type: ignore[no-untyped-def]
        """used: [2] rows that need space, and rows that found it: the first ones."""
        g = cuda.grid(1)
        if g < games.lengths.shape[0]:
            finished = count_finished(games, np.int64(g))
            if finished > 0:
                first = cuda.atomic.add(used, 0, finished)
                if first + finished <= rows.moves.shape[0]:
                    take_finished(games, np.int64(g), rows, np.int64(first), np.int64(iteration))
                    cuda.atomic.max(used, 1, first + finished)

    kernels = [begin, find_done, step, renew, collect]
    return namespace(f"{rules.__name__}.{method}.{proves_leaves}.selfplay_kernels", kernels)
