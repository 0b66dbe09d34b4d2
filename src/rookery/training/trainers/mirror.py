"""What a team keeps of its trainers' work: their last whole state, and the net that plays.

Trainers say more often how the net plays than all they know. So the two are of different updates,
and a state to go on from has the averaged net of its own update.
"""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray
from torch import nn

from rookery.learning import Learner

Arrays = Mapping[str, NDArray[Any]]


class StateMirror:
    """Keeps what a learner that never learns was told."""

    def __init__(self, still: Learner) -> None:
        self._still = still
        self._play = still.play_arrays()

    @property
    def updates(self) -> int:
        """Of the state."""
        return self._still.updates

    @property
    def play_net(self) -> nn.Module:
        """The averaged net, for playing; it changes in place."""
        return self._still.play_net

    def state(self, rows_owed: float) -> dict[str, NDArray[Any]]:
        """The last whole state, for a learner that owes so many rows."""
        self._still.rows_owed = rows_owed
        return {**self._still.state(), **self._play}

    def keep(self, arrays: Arrays) -> None:
        """Take up a whole state."""
        self._still.restore(arrays)
        self._play = self._still.play_arrays()

    def play_with(self, arrays: Arrays) -> None:
        """Take up the averaged net alone."""
        self._still.fill_play(arrays)
