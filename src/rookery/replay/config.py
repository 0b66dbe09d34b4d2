"""Settings of the replay window."""

from dataclasses import dataclass
from math import inf

from rookery.base import ConfigError


@dataclass(frozen=True)
class ReplayConfig:
    """How many of the newest rows the learner draws from."""

    window_min: int = 20_000
    """Rows that are always kept."""
    window_max: int = 1_000_000
    """Maximum number of rows."""
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
        """Return how many rows the window may hold once `rows_made` rows were ever made."""
        return min(max(int(self.window_growth * rows_made), self.window_min), self.window_max)
