"""The window: the newest rows, which the learner draws from. It grows with the run.

Rows are dropped one by one, oldest first (row-exact); a shard is needed as long as one of its
rows is left. Which rows are left follows from the rows made so far alone, so that a window
read back from its shards equals the one that was lost.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from rookery.base import ConfigError
from rookery.games import Game
from rookery.replay.samples import Samples
from rookery.replay.statistics import duplicate_share, mean_entropy


@dataclass(frozen=True)
class ReplayConfig:
    """How much of the past the learner sees."""

    window_min: int = 20_000
    """Rows that are kept in any case."""
    window_max: int = 1_000_000
    """Rows that are never exceeded."""
    window_growth: float = 0.5
    """Rows kept per row ever made, between the two bounds."""

    def __post_init__(self) -> None:
        if not 1 <= self.window_min <= self.window_max:
            raise ConfigError(
                f"replay.window_min is {self.window_min} and replay.window_max {self.window_max}; "
                "expected 1 <= window_min <= window_max"
            )
        if not self.window_growth >= 0:
            raise ConfigError(f"replay.window_growth is {self.window_growth}, expected >= 0")

    def capacity(self, rows_made: int) -> int:
        """Rows the window may hold once `rows_made` rows were ever made."""
        return min(max(int(self.window_growth * rows_made), self.window_min), self.window_max)


@dataclass(frozen=True)
class WindowStatistics:
    """What is in a window."""

    rows: int
    rows_made: int
    """Rows ever made, the dropped ones too."""
    mean_age: float
    """Iterations since a row was made."""
    duplicate_share: float
    """Share of rows whose position occurs in an earlier row."""
    policy_entropy: float
    """Mean entropy of the search's policies, in nats."""


class Window:
    """The newest rows of a run, in the order they were made."""

    def __init__(self, game: Game, config: ReplayConfig) -> None:
        self.game = game
        self.config = config
        self.samples = Samples.empty(game)
        self.rows_made = 0
        self.next_shard = 0
        self._shards: list[tuple[int, int]] = []  # number, and rows made up to its end

    @classmethod
    def restore(
        cls,
        game: Game,
        config: ReplayConfig,
        *,
        shards: Iterable[tuple[int, Samples]],
        rows_made: int,
    ) -> "Window":
        """The window that had made `rows_made` rows, from its shards (number, samples) in order."""
        window = cls(game, config)
        loaded = list(shards)
        window.rows_made = rows_made - sum(len(samples) for _, samples in loaded)
        for number, samples in loaded:
            window.next_shard = number
            window.add(samples)
        return window

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def shard_numbers(self) -> tuple[int, ...]:
        """The shards that rows of the window come from; all earlier ones may be deleted."""
        return tuple(number for number, _ in self._shards)

    def add(self, samples: Samples) -> int:
        """Append the rows of a new shard, drop what no longer fits; returns the shard's number."""
        number = self.next_shard
        self.next_shard += 1
        self.rows_made += len(samples)
        self._shards.append((number, self.rows_made))
        self._keep(samples)
        oldest = self.rows_made - len(self)
        self._shards = [shard for shard in self._shards if shard[1] > oldest]
        return number

    def _keep(self, samples: Samples) -> None:
        """Join old and new rows, without the oldest."""
        held = len(self)
        drop = max(0, held + len(samples) - self.config.capacity(self.rows_made))
        old = self.samples.between(min(drop, held), held)
        new = samples.between(max(0, drop - held), len(samples))
        self.samples = Samples.concatenate([old, new])

    def statistics(self, iteration: int) -> WindowStatistics:
        """Figures of the window, seen in `iteration`."""
        born = self.samples.born
        return WindowStatistics(
            rows=len(self),
            rows_made=self.rows_made,
            mean_age=float(iteration - born.mean()) if len(self) else 0.0,
            duplicate_share=duplicate_share(self.samples.states),
            policy_entropy=mean_entropy(self.samples),
        )
