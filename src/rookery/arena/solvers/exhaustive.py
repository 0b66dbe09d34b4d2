"""An exact solver for small games that stores every position; Tic-Tac-Toe takes a second."""

import numpy as np

from rookery.games import ONGOING, Game, State


class ExhaustiveSolver:
    """Negamax over the whole game; the key of a position is the bytes of its record."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._scores: dict[bytes, int] = {}

    def score(self, state: State) -> int:
        """Return WIN, DRAW or LOSS for the player to move, under perfect play."""
        key = state.tobytes()
        if key not in self._scores:
            outcome = int(self._game.rules.outcome(state))
            if outcome == ONGOING:
                outcome = max(score for score in self.scores(state) if score is not None)
            self._scores[key] = outcome
        return self._scores[key]

    def scores(self, state: State) -> list[int | None]:
        """Return [A] the score of each action for the player to move, None if it is illegal."""
        scores: list[int | None] = [None] * self._game.num_actions
        for action in self._game.legal_actions(state):
            after = state.copy()
            self._game.rules.play(after, np.int32(action))
            scores[action] = -self.score(after)
        return scores
