"""Boards to try a net on: those of random games."""

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import legal_mask, outcomes, pick, planes, play_each
from rookery.base import generator
from rookery.games import ONGOING, Game


def sample_boards(game: Game, num_games: int) -> NDArray[np.float32]:
    """Planes [B, P, H, W] of all positions with a move to make in random games, always the same."""
    stream, states, found = generator(0, "sample boards"), game.new_states(num_games), []
    for _ in range(game.max_plies):
        states = states[outcomes(game, states) == ONGOING]
        if not len(states):
            break
        found.append(planes(game, states))
        play_each(game, states, pick(legal_mask(game, states), stream))
    return np.concatenate(found)
