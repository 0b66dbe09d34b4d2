"""The books of a window: how many rows were ever made, and which shards hold the newest."""

from dataclasses import dataclass, field
from math import inf

from rookery.base import ConfigError


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
        if not 0 <= self.window_growth < inf:
            raise ConfigError(f"replay.window_growth is {self.window_growth}, expected >= 0")

    def capacity(self, rows_made: int) -> int:
        """Rows the window may hold once `rows_made` rows were ever made."""
        return min(max(int(self.window_growth * rows_made), self.window_min), self.window_max)


@dataclass
class Books:
    """Which rows a window holds follows from the rows made so far alone."""

    config: ReplayConfig
    rows_made: int = 0
    """Rows ever made, the dropped ones too."""
    next_shard: int = 0
    rows: int = 0
    """Rows the window holds."""
    _shards: list[tuple[int, int]] = field(default_factory=list)
    """Number of each shard that is needed, and rows made up to its end."""

    @property
    def shard_numbers(self) -> tuple[int, ...]:
        """The shards that rows of the window come from; all earlier ones may be deleted."""
        return tuple(number for number, _ in self._shards)

    def enter(self, new_rows: int) -> int:
        """Enter a new shard, strike out those that no longer matter; returns its number."""
        number = self.next_shard
        self.next_shard += 1
        self.rows_made += new_rows
        self.rows = min(self.rows + new_rows, self.config.capacity(self.rows_made))
        self._shards.append((number, self.rows_made))
        oldest = self.rows_made - self.rows
        self._shards = [shard for shard in self._shards if shard[1] > oldest]
        return number

    def expect(self, rows_made: int, *, loaded: int) -> None:
        """Begin as after all but the last `loaded` of `rows_made` rows."""
        self.rows_made = rows_made - loaded
