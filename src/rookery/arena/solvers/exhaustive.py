"""Any small game solved exactly, by remembering every position: Tic-Tac-Toe in a second."""

import numpy as np

from rookery.games import ONGOING, Action, Game, State


class ExhaustiveSolver:
    """Negamax over the whole game; positions are told apart by the bytes of their record."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._known: dict[bytes, int] = {}

    def score(self, state: State) -> int:
        """WIN, DRAW or LOSS for the player to move, under perfect play."""
        key = state.tobytes()
        if key not in self._known:
            outcome = int(self._game.rules.outcome(state))
            if outcome == ONGOING:
                outcome = max(score for score in self.scores(state) if score is not None)
            self._known[key] = outcome
        return self._known[key]

    def scores(self, state: State) -> list[int | None]:
        """The score [A] of each action for the player to move; None where it is illegal."""
        scores: list[int | None] = [None] * self._game.num_actions
        for action in self._game.legal_actions(state):
            scores[action] = -self.score(self._after(state, action))
        return scores

    def reachable(self) -> list[State]:
        """Every position that play can reach and that is not over, the first one first."""
        found: dict[bytes, State] = {}
        waiting = [self._game.new_states(1)[0]]
        while waiting:
            state = waiting.pop()
            if state.tobytes() in found or self._game.rules.outcome(state) != ONGOING:
                continue
            found[state.tobytes()] = state
            waiting += [self._after(state, action) for action in self._game.legal_actions(state)]
        return list(found.values())

    def _after(self, state: State, action: Action) -> State:
        after = self._game.blank_states(1)
        after[0] = state
        self._game.rules.play(after[0], np.int32(action))
        return after[0]
