"""A weaker version of any player: a share of its moves are random."""

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Past, legal_mask, pick
from rookery.arena.player import Player, faults_of
from rookery.base import generator
from rookery.games import Game, States


class NoisyPlayer:
    """Plays `percent` of its moves at random, the others as `player` would."""

    def __init__(self, game: Game, player: Player, *, percent: int, seed: int) -> None:
        self.name = f"{player.name}~{percent}"
        self._game = game
        self._player = player
        self._share = percent / 100
        self._stream = generator(seed, "arena/diluted", percent)

    @property
    def faults(self) -> list[str]:
        """Why the player forfeited, the last time."""
        return faults_of(self._player)

    def choose(self, states: States, past: Past | None = None) -> NDArray[np.int32]:
        """[B] an action for each state."""
        actions = pick(legal_mask(self._game, states), self._stream)
        asked = np.flatnonzero(self._stream.random(len(states)) >= self._share)
        if len(asked):
            theirs = self._player.choose(states[asked], past.of(asked) if past else None)
            actions[asked] = theirs
        return actions
