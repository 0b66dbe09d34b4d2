"""A player that knows the answer: one of the best moves, by a perfect solver."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Past, pick
from rookery.base import generator
from rookery.games import Game, State, States


class Solver(Protocol):
    """Solves a game by looking to its end."""

    def scores(self, state: State) -> Sequence[int | None]:
        """[A] what each action is worth to the player to move, None where it is illegal.

        Above 0 it wins, 0 draws, below 0 it loses. A solver that knows how fast gives the
        faster win and the slower loss the larger number.
        """


class SolverPlayer:
    """Draws evenly from the moves of the highest score."""

    def __init__(self, game: Game, solver: Solver, *, seed: int) -> None:
        self.name = "solver"
        self._game = game
        self._solver = solver
        self._stream = generator(seed, "arena/solver")

    def choose(self, states: States, past: Past | None = None) -> NDArray[np.int32]:
        """[B] a best action for each state."""
        mask = np.zeros((len(states), self._game.num_actions), np.bool_)
        for row, state in zip(mask, states, strict=True):
            scores = self._solver.scores(state)
            best = max(score for score in scores if score is not None)
            row[:] = [score == best for score in scores]
        return pick(mask, self._stream)
