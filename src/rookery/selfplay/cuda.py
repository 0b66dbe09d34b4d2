"""Self-play on a GPU: every game searches, moves, ends and begins anew by its own clock.

A wave is one simulation of every game. A game whose search is done moves and begins the next
search in the same wave, whatever the others do, so that every row of the net's batch is a leaf
that somebody wants. Games that have ended wait, a few waves, for `renew`; `collect` gathers their
rows for the learner. A game that finds no room waits for the next time, and nothing is lost.
"""

from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from rookery.base import compiled, namespace
from rookery.games import ONGOING
from rookery.gpu import cuda, kernel
from rookery.search import FREE_SIMULATIONS, bind_simulation, repetitions_of
from rookery.selfplay.harvest import Marks, close_up, copy_out, count_ended, mark_end
from rookery.selfplay.history import History
from rookery.selfplay.kernels import Moves, SelfPlayParams, bind_one


class Plan(NamedTuple):
    """The schedule of simulations, as kernels take it. A search keeps to the step it began in.

    simulations: [K] simulations a move, by step of the schedule.
    tables: [K, M + 1, S] `visit_table` of each.
    now: [1] the present step.
    of_game: [G] the step of each search.
    """

    simulations: Any
    tables: Any
    now: Any
    of_game: Any


class Stage(NamedTuple):
    """All that G games on a GPU are made of."""

    tree: Any
    settings: Any
    history: History
    marks: Marks
    roots: Any
    moves: Moves
    params: SelfPlayParams
    plan: Plan
    turns: Any
    """[G] moves made so far."""


def _bind_steps(rules: ModuleType, method: str) -> ModuleType:
    search, play = bind_simulation(rules, method), bind_one(rules)

    @compiled
    def begin(stage, g):  # type: ignore[no-untyped-def]
        """Begin to search the position of place g, by the schedule's present step."""
        stage.tree.states[g, 0] = stage.roots[g]
        step = stage.plan.now[0]
        stage.plan.of_game[g] = step
        search.begin(stage.tree, np.int64(stage.plan.simulations[step]), g)

    clock = namespace(f"{rules.__name__}.{method}.clock", {"begin": begin})

    @compiled
    def turn(stage, g):  # type: ignore[no-untyped-def]
        """Make the move that the search in place g has found, and go on from there."""
        moves, history = stage.moves, stage.history
        search.decide(stage.tree, stage.settings, g, moves.actions, moves.policy, moves.values)
        play.advance(history, stage.roots, repetitions_of(stage.tree), moves, stage.params, g)
        stage.turns[g] += 1
        if history.results[g] == ONGOING:
            clock.begin(stage, g)
        else:
            mark_end(history, stage.marks, g)

    @compiled
    def renew(stage, g):  # type: ignore[no-untyped-def]
        """Begin a new game in place g, behind the rows of the last."""
        stage.history.firsts[g] += stage.history.lengths[g]
        play.restart(stage.history, stage.roots, repetitions_of(stage.tree), stage.params, g)
        clock.begin(stage, g)

    functions = {"begin": begin, "turn": turn, "renew": renew}
    return namespace(f"{rules.__name__}.{method}.turns", functions)


@cache
def bind(rules: ModuleType, method: str) -> SimpleNamespace:
    """`begin`, `look`, `go_on`, `renew` and `collect` as kernels, for one game, one way."""
    one, search = _bind_steps(rules, method), bind_simulation(rules, method)

    @kernel
    def begin(stage):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < stage.roots.shape[0] and stage.history.results[g] == ONGOING:
            one.begin(stage, np.int64(g))

    @kernel
    def look(stage, is_done):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < is_done.shape[0]:
            is_done[g] = stage.tree.searches[g].simulations_left == 0

    @kernel
    def go_on(stage, is_done, needs_net):  # type: ignore[no-untyped-def]
        """Two threads a game: one descends; where the search is done, the other one moves first.

        The few that move sit in warps of their own, beside which all others descend.
        """
        thread, count = cuda.grid(1), is_done.shape[0]
        is_mover = thread >= count
        g = np.int64(thread - count if is_mover else thread)
        if g < count and is_done[g] == is_mover:
            if is_mover and stage.history.results[g] == ONGOING:
                one.turn(stage, g)
            table = stage.plan.tables[stage.plan.of_game[g]]
            needs_net[g] = search.descend(stage.tree, stage.settings, table, FREE_SIMULATIONS, g)

    @kernel
    def renew(stage, max_plies):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < stage.roots.shape[0] and stage.history.results[g] != ONGOING:
            row = stage.history.firsts[g] + stage.history.lengths[g]
            if row + max_plies <= stage.history.actions.shape[1]:
                one.renew(stage, np.int64(g))

    @kernel
    def collect(history, marks, rows, used):  # type: ignore[no-untyped-def]
        """used: [2] rows asked for, and rows that found room: the first ones."""
        g = cuda.grid(1)
        if g < history.lengths.shape[0]:
            ended = count_ended(history, np.int64(g))
            if ended > 0:
                first = cuda.atomic.add(used, 0, ended)
                if first + ended <= rows.results.shape[0]:
                    for i in range(ended):
                        copy_out(history, marks, np.int64(g), np.int64(i), rows, first + i)
                    close_up(history, np.int64(g), ended)
                    cuda.atomic.max(used, 1, first + ended)

    return SimpleNamespace(begin=begin, look=look, go_on=go_on, renew=renew, collect=collect)
