"""What a run shows while it goes on."""

from collections.abc import Callable
from dataclasses import dataclass

from rookery.arena import Strength
from rookery.learning import LearnReport
from rookery.selfplay import SelfPlayReport


class Stopped(Exception):
    """Raised by a watcher to end the run; what was reached is kept."""


@dataclass(frozen=True)
class ActorStatus:
    """The actors of a run."""

    ready: int
    size: int
    staleness: float
    """Iterations by which the weights that games were played with are behind."""


@dataclass(frozen=True)
class Progress:
    """What a watcher sees, several times a second."""

    phase: str
    """self-play, learning, collecting (on a GPU), strength or checkpoint."""
    iteration: int
    progress: float
    seconds: float
    simulations: int = 0
    games: int = 0
    rows_made: int = 0
    played: SelfPlayReport | None = None
    learned: LearnReport | None = None
    strength: Strength | None = None
    crew: ActorStatus | None = None
    notes: tuple[str, ...] = ()
    """What happened that people should know, oldest first."""


ProgressCallback = Callable[[Progress], None]
