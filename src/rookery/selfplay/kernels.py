"""One ply of one game of self-play, and the start of a new game. Scalar, for any device."""

from functools import cache
from types import ModuleType
from typing import NamedTuple

import numpy as np

from rookery.base import Index, compiled, namespace, uniform
from rookery.games import DRAW, LOSS, ONGOING, Game, bind_repetitions
from rookery.search import DecisionArrays
from rookery.selfplay.config import SelfPlayConfig
from rookery.selfplay.drawing import bind_openings, draw_index, draw_opening_plies
from rookery.selfplay.games import Games, check_resignation, label_rows, resigns, write_policy
from rookery.selfplay.misjudged import NONE, draw_misjudged


class SelfPlayParams(NamedTuple):
    """`SelfPlayConfig` as plain numbers that kernels take."""

    temperature: float
    temperature_plies: int
    opening_share: float
    opening_plies: int
    misjudged_share: float
    resign: float
    resign_check: float
    max_plies: int


def selfplay_params(config: SelfPlayConfig, game: Game) -> SelfPlayParams:
    """Return the settings that kernels need."""
    numbers = {name: getattr(config, name) for name in SelfPlayParams._fields}
    return SelfPlayParams(**numbers)._replace(max_plies=config.longest_game(game))


@compiled
def choose(
    games: Games, found: DecisionArrays, params: SelfPlayParams, row: Index, g: Index
) -> Index:
    """Return the move to make: drawn from the policy in the first plies, then the best."""
    if games.openings[g] + games.lengths[g] < params.temperature_plies:
        count = np.int64(games.rows.num_legal[g, row])
        index = draw_index(found.policy[g], count, params.temperature, games.streams, g)
        return np.int64(games.rows.legal[g, row, index])
    return np.int64(found.actions[g])


def _bind_rows(rules: ModuleType) -> ModuleType:
    @compiled
    def write(games, roots, found, row, g):  # type: ignore[no-untyped-def]
        """Store the position with its legal actions, policy and value."""
        rows = games.rows
        rows.states[g, row] = roots[g]
        rows.values[g, row] = found.values[g, 0]
        rows.draws[g, row] = found.values[g, 1]
        rows.num_legal[g, row] = rules.legal(roots[g], rows.legal[g, row])
        write_policy(games, found.policy[g], row, g)

    return namespace(f"{rules.__name__}.rows", [write])


def bind_one(rules: ModuleType) -> ModuleType:
    """Return `advance` and `restart` of one game."""
    rows, openings, repeats = _bind_rows(rules), bind_openings(rules), bind_repetitions(rules)

    @compiled
    def advance(games, roots, repetitions, found, params, g):  # type: ignore[no-untyped-def]
        """Make a move in game g; set its result and label its rows if that ends it."""
        row = np.int64(games.firsts[g] + games.lengths[g])
        rows.write(games, roots, found, row, g)
        action = choose(games, found, params, row, g)
        games.rows.moves[g, row] = action
        games.lengths[g] += 1
        repeats.play(repetitions, roots[g], action, g)
        outcome = rules.outcome(roots[g])
        mover = 1 if games.lengths[g] % 2 == 1 else -1  # who made the move
        games.results[g] = ONGOING
        if outcome != ONGOING:
            games.results[g] = -mover * outcome
        elif games.openings[g] + games.lengths[g] >= params.max_plies:
            games.results[g] = DRAW
        elif resigns(games, params.resign, found.values[g, 0], mover, g):
            games.results[g] = mover * LOSS
        if games.results[g] != ONGOING:
            check_resignation(games, g)
            label_rows(games, g)

    @compiled
    def draw_opening(games, roots, repetitions, params, g):  # type: ignore[no-untyped-def]
        """Set roots[g] to a start, with random moves if the draw says so; return their number."""
        row = games.firsts[g]
        scratch, legal = games.rows.states[g, row:], games.rows.legal[g, row]
        share, most = params.opening_share, params.opening_plies
        plies = draw_opening_plies(share, most, games.streams, g)
        while not openings.open_game(roots, repetitions, plies, scratch, legal, games.streams, g):
            plies = draw_opening_plies(share, most, games.streams, g)
        return plies

    starts = namespace(f"{rules.__name__}.starts", [draw_opening])

    @compiled
    def restart(games, roots, repetitions, misjudged, params, g):  # type: ignore[no-untyped-def]
        """Start the next game in place of game g: from a misjudged position, or from scratch."""
        share = params.misjudged_share
        plies = draw_misjudged(misjudged, share, roots, repetitions, games.streams, g)
        if plies == NONE:
            plies = np.int64(starts.draw_opening(games, roots, repetitions, params, g))
        games.openings[g] = plies
        games.lengths[g] = 0
        games.results[g] = ONGOING
        games.would_resign[g] = 0
        if params.resign > 0:
            games.never_resigns[g] = uniform(games.streams, g) < params.resign_check

    return namespace(f"{rules.__name__}.selfplay", [advance, restart])


@cache
def bind(rules: ModuleType) -> ModuleType:
    """Return `advance` and `restart` over games, on the CPU, for the game of `rules`."""
    one = bind_one(rules)

    @compiled
    def advance(games, roots, repetitions, found, params):  # type: ignore[no-untyped-def]
        for g in range(roots.shape[0]):
            one.advance(games, roots, repetitions, found, params, np.int64(g))

    @compiled
    def restart(games, roots, repetitions, misjudged, params, indices):  # type: ignore[no-untyped-def]
        for i in range(indices.shape[0]):
            one.restart(games, roots, repetitions, misjudged, params, np.int64(indices[i]))

    return namespace(f"{rules.__name__}.selfplays", [advance, restart])
