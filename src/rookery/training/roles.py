"""What the training loop asks of those who play, learn and measure."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from numpy.typing import NDArray
from torch import nn

from rookery.learning import LearningConfig, LearnReport
from rookery.nets import BackendChoice
from rookery.replay import Window
from rookery.selfplay import Played
from rookery.training.progress import ActorStatus
from rookery.training.self_players import Step

Arrays = Mapping[str, NDArray[Any]]
Check = Callable[[], None]


class SelfPlay(Protocol):
    """Plays games with the newest published weights."""

    @property
    def choice(self) -> BackendChoice:
        """How the network is evaluated."""

    @property
    def kind(self) -> str:
        """Where the games in progress are: cpu, cuda or actors."""

    @property
    def actors(self) -> ActorStatus | None:
        """The state of the actors, None without any."""

    def play(self, iteration: int, *, progress: float, check: Check) -> Step:
        """Play an iteration, or return what actors have sent; `check` may raise to stop."""

    def drain(self) -> tuple[Played, ...]:
        """Wait for what is still in flight and return it."""

    def attend(self) -> None:
        """Look after the actors while the learner learns."""

    def publish(self, net: nn.Module, version: int, weights: Callable[[], bytes]) -> None:
        """Play with new weights; `weights` returns them as the content of a file."""

    def figures(self) -> dict[str, Any]:
        """Return figures of the actors for the statistics."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the games in progress."""

    def restore(self, state: Arrays) -> None:
        """Continue from what `state` returned."""


class Learner(Protocol):
    """Makes updates from the window."""

    config: LearningConfig
    updates: int
    precision: str

    @property
    def play_net(self) -> nn.Module:
        """The averaged network, for playing; it changes in place."""

    def learn(
        self, window: Window, num_updates: int, *, progress: float, check: Check
    ) -> LearnReport | None:
        """Make updates; on a GPU, enqueue them and return the report of the call before."""

    def drain(self) -> LearnReport | None:
        """Wait for updates in flight and return their report."""

    def set_learning_rate(self, peak: float) -> None:
        """Make the next updates with another peak learning rate."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything a new learner needs to continue."""

    def restore(self, arrays: Arrays) -> None:
        """Continue from what `state` returned."""


class StrengthMeter(Protocol):
    """Measures the strength of the network that plays."""

    def start(self, iteration: int, net: nn.Module) -> None:
        """Begin to measure, unless a measurement is under way."""

    def poll(self) -> None:
        """Record a measurement that is complete."""

    def wait(self) -> None:
        """Wait for the measurement under way, as long as the run's time allows."""
