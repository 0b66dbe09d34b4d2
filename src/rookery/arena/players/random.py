"""The weakest player: any legal move."""

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Past, legal_mask, pick
from rookery.base import generator
from rookery.games import Game, States


class RandomPlayer:
    """Draws evenly from the legal moves."""

    def __init__(self, game: Game, seed: int) -> None:
        self.name = "random"
        self._game = game
        self._stream = generator(seed, "arena/random")

    def choose(self, states: States, past: Past | None = None) -> NDArray[np.int32]:
        """[B] a legal action for each state."""
        return pick(legal_mask(self._game, states), self._stream)
