"""One ply of one game of self-play, and the start of a new one. Scalar, for any device."""

from functools import cache
from types import ModuleType
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, Number, compiled, namespace, parallel, uniform
from rookery.games import DRAW, LOSS, ONGOING, Game, bind_repetitions
from rookery.selfplay.config import SelfPlayConfig
from rookery.selfplay.exploration import draw_index, draw_opening_plies
from rookery.selfplay.history import History
from rookery.selfplay.openings import bind as bind_openings


class SelfPlayParams(NamedTuple):
    """How the games are played, as plain numbers that kernels take."""

    temperature: float
    temperature_plies: int
    opening_share: float
    opening_plies: int
    resign: float
    resign_check: float
    max_plies: int


def selfplay_params(config: SelfPlayConfig, game: Game) -> SelfPlayParams:
    """The part of the settings that kernels need."""
    return SelfPlayParams(
        temperature=config.temperature,
        temperature_plies=config.temperature_plies,
        opening_share=config.opening_share,
        opening_plies=config.opening_plies,
        resign=config.resign,
        resign_check=config.resign_check,
        max_plies=config.longest_game(game),
    )


class Moves(NamedTuple):
    """The decisions of G searches, as kernels take them (see `search.Decisions`).

    actions: [G] the moves found best.
    policy: [G, L] over the legal moves, in the rules' order.
    values: [G, 2] value and draw probability.
    """

    actions: NDArray[np.int32]
    policy: NDArray[np.float32]
    values: NDArray[np.float32]


@compiled
def choose(history: History, moves: Moves, params: SelfPlayParams, row: Index, g: Index) -> Index:
    """The move to make from `row`: drawn from the policy in the first plies, then the best."""
    if history.first_plies[g] + history.lengths[g] < params.temperature_plies:
        count, streams = np.int64(history.num_legal[g, row]), history.streams
        index = draw_index(history.policy[g, row], count, params.temperature, streams, g)
        return np.int64(history.policy_actions[g, row, index])
    return np.int64(moves.actions[g])


@compiled
def resigns(
    history: History, params: SelfPlayParams, value: Number, mover: Index, g: Index
) -> bool:
    """Whether the player who found `value` resigns; in games played on it is only noted."""
    if params.resign == 0 or value >= -params.resign:
        return False
    if history.plays_on[g] and history.gave_up[g] == 0:
        history.gave_up[g] = mover
    return not history.plays_on[g]


@compiled
def check_resignation(history: History, g: Index) -> None:
    """Count a game that has ended and in which somebody would have resigned."""
    if history.gave_up[g] != 0:
        history.checks[g] += 1
        history.errors[g] += history.results[g] != -history.gave_up[g]


def _bind_steps(rules: ModuleType) -> ModuleType:
    @compiled
    def write(history, roots, moves, row, g):  # type: ignore[no-untyped-def]
        """Write down the position and its policy."""
        history.states[g, row] = roots[g]
        history.values[g, row, 0] = moves.values[g, 0]
        history.values[g, row, 1] = moves.values[g, 1]
        count = rules.legal(roots[g], history.policy_actions[g, row])
        history.num_legal[g, row] = count
        for i in range(count):
            history.policy[g, row, i] = moves.policy[g, i]

    return namespace(f"{rules.__name__}.ply", {"write": write})


def bind_one(rules: ModuleType) -> ModuleType:
    """`advance` and `restart` of one game."""
    steps, openings, repeats = _bind_steps(rules), bind_openings(rules), bind_repetitions(rules)

    @compiled
    def advance(history, roots, repetitions, moves, params, g):  # type: ignore[no-untyped-def]
        """Make a move in game g; its result is set where that ends it."""
        row = np.int64(history.firsts[g] + history.lengths[g])
        steps.write(history, roots, moves, row, g)
        action = choose(history, moves, params, row, g)
        history.actions[g, row] = action
        history.lengths[g] += 1
        repeats.play(repetitions, roots[g], action, g)
        outcome = rules.outcome(roots[g])
        mover = 1 if history.lengths[g] % 2 == 1 else -1  # who made the move
        history.results[g] = ONGOING
        if outcome != ONGOING:
            history.results[g] = -mover * outcome
        elif history.first_plies[g] + history.lengths[g] >= params.max_plies:
            history.results[g] = DRAW
        elif resigns(history, params, moves.values[g, 0], mover, g):
            history.results[g] = mover * LOSS
        if history.results[g] != ONGOING:
            check_resignation(history, g)

    @compiled
    def restart(history, roots, repetitions, params, g):  # type: ignore[no-untyped-def]
        """Begin a new game in place g, with a random opening where the draw says so."""
        row = history.firsts[g]
        scratch, legal = history.states[g, row:], history.policy_actions[g, row]
        share, most = params.opening_share, params.opening_plies
        plies = draw_opening_plies(share, most, history.streams, g)
        while not openings.open_game(roots, repetitions, plies, scratch, legal, history.streams, g):
            plies = draw_opening_plies(share, most, history.streams, g)
        history.first_plies[g] = plies
        history.lengths[g] = 0
        history.results[g] = ONGOING
        history.gave_up[g] = 0
        if params.resign > 0:
            history.plays_on[g] = uniform(history.streams, g) < params.resign_check

    return namespace(f"{rules.__name__}.selfplay", {"advance": advance, "restart": restart})


@cache
def bind(rules: ModuleType) -> ModuleType:
    """`advance` and `restart` over games, on CPU threads, for the game of `rules`."""
    one = bind_one(rules)

    @parallel
    def advance(history, roots, repetitions, moves, params):  # type: ignore[no-untyped-def]
        for g in numba.prange(roots.shape[0]):
            one.advance(history, roots, repetitions, moves, params, np.int64(g))

    @parallel
    def restart(history, roots, repetitions, params, games):  # type: ignore[no-untyped-def]
        for i in numba.prange(games.shape[0]):
            one.restart(history, roots, repetitions, params, np.int64(games[i]))

    return namespace(f"{rules.__name__}.selfplays", {"advance": advance, "restart": restart})
