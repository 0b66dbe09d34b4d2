"""The window: the newest rows, which the learner draws from. It grows with the run.

Rows are dropped one by one, oldest first (row-exact); a shard is needed as long as one of its
rows is left. Which rows are left follows from the rows made so far alone, so that a window
read back from its shards equals the one that was lost.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from rookery.games import Game
from rookery.replay.books import Books, ReplayConfig
from rookery.replay.samples import Samples
from rookery.replay.statistics import duplicate_share, mean_entropy


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
        self.books = Books(config)

    def refill(self, shards: Iterable[tuple[int, Samples]], rows_made: int) -> None:
        """Take up the rows of the shards (number, samples), the last of `rows_made`, in order."""
        loaded = list(shards)
        self.books.expect(rows_made, loaded=sum(len(samples) for _, samples in loaded))
        for number, samples in loaded:
            self.books.next_shard = number
            self.add(samples)

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def rows_made(self) -> int:
        """Rows ever made, the dropped ones too."""
        return self.books.rows_made

    @property
    def shard_numbers(self) -> tuple[int, ...]:
        """The shards that rows of the window come from; all earlier ones may be deleted."""
        return self.books.shard_numbers

    def add(self, samples: Samples) -> int:
        """Append the rows of a new shard, drop what no longer fits; returns the shard's number."""
        number = self.books.enter(len(samples))
        held = len(self)
        drop = held + len(samples) - self.books.rows
        old = self.samples.between(min(drop, held), held)
        new = samples.between(max(0, drop - held), len(samples))
        self.samples = Samples.concatenate([old, new])
        return number

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
