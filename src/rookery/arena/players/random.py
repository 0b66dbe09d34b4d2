"""Players with random moves: all of them, or a percentage."""

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Histories, legal_mask, random_actions
from rookery.arena.player import Player, faults_of
from rookery.base import generator
from rookery.games import Game, States


class RandomPlayer:
    """Draws every move uniformly from the legal ones."""

    def __init__(self, game: Game, seed: int) -> None:
        self.name = "random"
        self._game = game
        self._stream = generator(seed, "arena/random")

    def choose(self, states: States, histories: Histories | None = None) -> NDArray[np.int32]:
        """Return [G] random legal actions."""
        return random_actions(legal_mask(self._game, states), self._stream)


class NoisyPlayer:
    """Plays `percent` of its moves at random and the others like `player`."""

    def __init__(self, game: Game, player: Player, *, percent: int, seed: int) -> None:
        self.name = f"{player.name}~{percent}"
        self._game = game
        self._player = player
        self._probability = percent / 100
        # Another name of the stream would change the games of a seed.
        self._stream = generator(seed, "arena/diluted", percent)

    @property
    def faults(self) -> list[str]:
        """Why the underlying player forfeited games in its last call."""
        return faults_of(self._player)

    def choose(self, states: States, histories: Histories | None = None) -> NDArray[np.int32]:
        """Return [G] actions, each of them random or chosen by the underlying player."""
        actions = random_actions(legal_mask(self._game, states), self._stream)
        games = np.flatnonzero(self._stream.random(len(states)) >= self._probability)
        if len(games):
            selected = histories.select(games) if histories else None
            actions[games] = self._player.choose(states[games], selected)
        return actions
