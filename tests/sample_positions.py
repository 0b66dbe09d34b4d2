"""Positions of a game to try kernels on: the most legal moves, a game's end, random ones."""

from typing import Any

import numpy as np

from rookery.games import ONGOING, Game

MOST_MOVES = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"


def sample_positions(game: Game) -> Any:
    """The first position or that of the most moves, and random ones up to the end of a game."""
    stream = np.random.default_rng(1)
    first = game.position(MOST_MOVES) if game.name == "chess" else game.new_states(1)[0]
    found, state = [first], game.new_states(1)[0]
    while game.rules.outcome(state) == ONGOING and len(found) < 60:
        found.append(state.copy())
        game.rules.play(state, stream.choice(game.legal_actions(state)))
    chosen = [found[0], found[-1], *found[1:-1:15]]
    roots = game.blank_states(len(chosen))
    for index, position in enumerate(chosen):
        roots[index] = position
    return roots
