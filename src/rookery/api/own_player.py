"""Players that are functions from a board to a move."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rookery.api.board import Board
from rookery.arena import Histories, Player
from rookery.games import Game, States
from rookery.training import PlayerSpec

ChooseMove = Callable[[Board], str]
"""Returns a legal move of the board; it may change the board, which is its own."""


@dataclass(frozen=True)
class OwnPlayerSpec(PlayerSpec):
    """A player of the user, for matches in this process."""

    function: ChooseMove | None = None

    @classmethod
    def of(cls, function: ChooseMove) -> "OwnPlayerSpec":
        """Return the player that chooses by `function`, under its name."""
        return cls("plain", getattr(function, "__name__", "own player"), function=function)

    def player(self, game: Game, *, seed: int) -> Player:
        """Return a new player."""
        assert self.function is not None
        return OwnPlayer(game, self.name, self.function)


@dataclass(frozen=True)
class OwnPlayer:
    """Plays the moves that a function chooses, one board at a time."""

    game: Game
    name: str
    function: ChooseMove

    def choose(self, states: States, histories: Histories | None = None) -> NDArray[np.int32]:
        """Return the actions of the chosen moves."""
        return np.array([self._choose(state) for state in states], np.int32)

    def _choose(self, state: np.void) -> int:
        board = Board.from_state(self.game, state)
        return board.read(self.function(board.copy()))
