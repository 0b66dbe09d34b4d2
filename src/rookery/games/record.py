"""One finished game, as it crosses from self-play to replay: compact states, not planes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.games.game import States


@dataclass(frozen=True)
class GameRecord:
    """The T searched positions of one game. Values are for the player to move.

    states: [T] positions, in the order played.
    actions: [T] int16 moves made.
    values: [T, 2] float32 the search's value and draw probability.
    policy_starts: [T + 1] int32 where each row's policy begins in the two arrays below.
    policy_actions: [M] int16 legal actions, row after row.
    policy: [M] float16 their probabilities after the search.
    """

    states: States
    actions: NDArray[np.int16]
    values: NDArray[np.float32]
    policy_starts: NDArray[np.int32]
    policy_actions: NDArray[np.int16]
    policy: NDArray[np.float16]
    result: int
    """WIN, DRAW or LOSS for the player to move in states[0]."""
    first_ply: int
    """Random opening moves made before states[0]."""

    def __len__(self) -> int:
        return len(self.states)

    def results(self) -> NDArray[np.int8]:
        """[T] the result for the player to move in each row."""
        signs = np.where(np.arange(len(self)) % 2 == 0, 1, -1)
        return (signs * self.result).astype(np.int8)

    def fingerprint(self) -> tuple[Any, ...]:
        """Equal for two games that started in one position and went the same way."""
        return (self.states[0].tobytes(), self.actions.tobytes())
