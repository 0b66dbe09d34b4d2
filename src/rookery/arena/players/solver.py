"""A perfect player, which takes its moves from a solver."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Histories, random_actions
from rookery.base import generator
from rookery.games import Game, State, States


class Solver(Protocol):
    """Computes the exact values of positions."""

    def scores(self, state: State) -> Sequence[int | None]:
        """Return [A] the score of each action for the player to move, None if it is illegal.

        Scores above 0 win, 0 draws, scores below 0 lose. A solver that knows the distance to the
        end gives faster wins and slower losses higher scores.
        """


class SolverPlayer:
    """Draws uniformly from the moves with the highest score."""

    def __init__(self, game: Game, solver: Solver, *, seed: int) -> None:
        self.name = "solver"
        self._game = game
        self._solver = solver
        self._stream = generator(seed, "arena/solver")

    def choose(self, states: States, histories: Histories | None = None) -> NDArray[np.int32]:
        """Return [G] best actions."""
        mask = np.zeros((len(states), self._game.num_actions), np.bool_)
        for row, state in zip(mask, states, strict=True):
            scores = self._solver.scores(state)
            best = max(score for score in scores if score is not None)
            row[:] = [score == best for score in scores]
        return random_actions(mask, self._stream)
