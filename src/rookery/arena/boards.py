"""Boards to try a net on: some of random games."""

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import legal_mask, outcomes, pick, planes, play_each
from rookery.base import generator
from rookery.games import ONGOING, Game

RANDOM_GAMES = 16


def sample_boards(game: Game, count: int) -> NDArray[np.float32]:
    """Planes [count, P, H, W] of positions with a move to make, early and late, always the same."""
    stream, states, found = generator(0, "sample boards"), game.new_states(RANDOM_GAMES), []
    for _ in range(game.max_plies):
        states = states[outcomes(game, states) == ONGOING]
        if not len(states):
            break
        found.append(planes(game, states))
        play_each(game, states, pick(legal_mask(game, states), stream))
    boards = np.concatenate(found)
    chosen: NDArray[np.float32] = boards[np.linspace(0, len(boards) - 1, count).astype(int)]
    return chosen
