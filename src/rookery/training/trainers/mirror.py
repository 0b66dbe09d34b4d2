"""The state of the trainers, as the pool keeps it in its own process."""

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from torch import nn

from rookery.games import Game
from rookery.learning import Learner, LearningConfig, LearnReport
from rookery.replay import Window
from rookery.training.trainers.messages import Arrays

Check = Callable[[], None]


class Mirror:
    """The trainers' last whole state, which they send now and then, and their averaged network.

    They send the averaged network after every goal: it may be newer than the state. The mirror
    makes no updates of its own until it has to learn alone.
    """

    def __init__(self, game: Game, net: nn.Module, *, config: LearningConfig, seed: int) -> None:
        self._learner = Learner(game, net, config=config, seed=seed)
        self._play_arrays = self._learner.play_arrays()
        """The averaged network of the last whole state."""
        self.precision = self._learner.precision

    @property
    def updates(self) -> int:
        """Updates of the last whole state."""
        return self._learner.updates

    @property
    def play_net(self) -> nn.Module:
        """The averaged network."""
        return self._learner.play_net

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the last whole state."""
        return {**self._learner.state(), **self._play_arrays}

    def restore(self, arrays: Arrays) -> None:
        """Keep a whole state."""
        self._learner.restore(arrays)
        self._play_arrays = self._learner.play_arrays()

    def fill_play(self, arrays: Arrays) -> None:
        """Keep a newer averaged network."""
        self._learner.fill_play(arrays)

    def learn(
        self,
        window: Window,
        num_updates: int,
        *,
        progress: float,
        learning_rate: float,
        check: Check,
    ) -> LearnReport:
        """Make the updates in this process."""
        self._learner.set_learning_rate(learning_rate)
        try:
            return self._learner.learn(window, num_updates, progress=progress, check=check)
        finally:
            self._play_arrays = self._learner.play_arrays()
