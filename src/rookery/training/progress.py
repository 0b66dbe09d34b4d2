"""What a run shows while it goes on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from rookery.arena import RatingEstimate, Strength
from rookery.gpu import GpuUsage
from rookery.learning import LearnReport
from rookery.selfplay import SelfPlayReport
from rookery.workers import WorkerStats


class Stopped(Exception):
    """Raised by a progress callback to end the run; its results are kept."""


@dataclass(frozen=True)
class ActorStatus:
    """The actors of a run."""

    ready: int
    size: int
    staleness: float
    """Mean number of iterations by which the weights that games were played with are behind."""
    workers: tuple[WorkerStats, ...] = ()
    """What is known about each actor that runs."""


@dataclass(frozen=True)
class Progress:
    """What a progress callback sees, several times per second."""

    phase: str
    """self-play, learning, measuring or checkpoint."""
    iteration: int
    progress: float
    """Share of the run that is done, from 0 to 1."""
    seconds: float
    simulations: int = 0
    games: int = 0
    rows_made: int = 0
    played: SelfPlayReport | None = None
    learned: LearnReport | None = None
    strength: Strength | None = None
    elo: RatingEstimate | None = None
    """The rating of the network measured last."""
    measured: float | None = None
    """While strength is measured: share of the measurement that is done."""
    actors: ActorStatus | None = None
    devices: Mapping[str, GpuUsage] = field(default_factory=dict)
    """The load of each GPU of this machine in the last second."""
    notes: tuple[str, ...] = ()
    """Events that people should know of, oldest first."""


ProgressCallback = Callable[[Progress], None]
