"""The replay window: the newest rows of a run, on the learner's device.

Rows are dropped one by one, oldest first; a shard is needed as long as the window holds one of its
rows. Which rows it holds follows from the rows made so far alone, so a window that is read back
from its shards equals the one that was lost.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rookery.base import ConfigError, FileDamaged, Ranges, UnknownName, check_ranges, plain
from rookery.games import Game
from rookery.gpu import as_tensor, to_host, view
from rookery.replay.batch import Batch, Deal, build_batch, symmetries_of
from rookery.replay.part import WHOLE, lanes_before, mark_own, own_rows, place
from rookery.replay.rows import PADDED, Rows, concatenate, count, new_rows, select, widen
from rookery.replay.statistics import WindowStatistics, window_statistics

CPU = torch.device("cpu")
MAX_ROWS = 100_000_000
SHARDING = ("full", "split")
FIRST_WIDTH = 8
"""Legal actions that rows in host memory have space for at first; doubled when more arrive."""


@dataclass(frozen=True)
class ReplayConfig:
    """How many of the newest rows the learner draws from."""

    RANGES: ClassVar[Ranges] = {
        "window_min": (1, MAX_ROWS),
        "window_max": (1, MAX_ROWS),
        "window_growth": (0, 1000),
        "given_share": (0.01, 0.99),
    }

    window_min: int = 20_000
    """Rows that are always kept."""
    window_max: int = 1_000_000
    """Maximum number of rows."""
    window_growth: float = 0.5
    """Rows kept per row ever made, between the two bounds."""
    given_share: float = 0.5
    """Share of given games (`rookery train --games`) in the new rows, as long as any are left."""
    sharding: str = "full"
    """What each of several trainers holds: full (all rows of the window) or split (its part)."""

    def __post_init__(self) -> None:
        check_ranges("replay", self, self.RANGES)
        if self.sharding not in SHARDING:
            raise UnknownName("replay.sharding", self.sharding, SHARDING)
        if self.window_min > self.window_max:
            raise ConfigError(
                f"replay.window_min is {self.window_min}, expected at most replay.window_max, "
                f"which is {self.window_max}"
            )

    def capacity(self, rows_made: int) -> int:
        """Return how many rows the window may hold once `rows_made` rows were ever made."""
        return min(max(int(self.window_growth * rows_made), self.window_min), self.window_max)


class Shard(NamedTuple):
    """The file of some rows of a window."""

    number: int
    begin: int
    """Rows made before its first one."""
    end: int
    """Rows made up to its last one."""


class Window:
    """A ring of at most `config.window_max` rows, of which the newest are in the window.

    With `lanes` (see `part`) it holds only these rows, but knows the size of the whole window.
    """

    def __init__(
        self,
        game: Game,
        config: ReplayConfig,
        device: torch.device = CPU,
        *,
        lanes: Sequence[int] = (),
    ) -> None:
        self.game, self.config, self.device = game, config, device
        self.before = lanes_before(lanes) if lanes else WHOLE
        """The part that is held, as kernels take it."""
        self.rows_made = 0
        """Rows ever made, the dropped ones too."""
        self.next_shard = 0
        self._size = 0
        self._shards: list[Shard] = []
        width = min(FIRST_WIDTH, game.max_legal) if device.type == "cpu" else game.max_legal
        num_lanes = len(self.before) - 1
        self._capacity = int(self.before[-1]) * -(-config.window_max // num_lanes)
        self._ring = new_rows(game, self._capacity, width=width, device=device)
        self._part = torch.from_numpy(self.before).to(device)
        self._oldest = torch.zeros(1, dtype=torch.int64, device=device)
        self._num_rows = torch.zeros(1, dtype=torch.int64, device=device)
        self._symmetries = symmetries_of(game, device)

    def __len__(self) -> int:
        return self._size

    @property
    def is_part(self) -> bool:
        """Whether other windows hold the other rows."""
        return len(self.before) > len(WHOLE)

    @property
    def share(self) -> float:
        """The share of the window's rows that is held."""
        return float(self.before[-1]) / (len(self.before) - 1)

    @property
    def rows_held(self) -> int:
        """Rows of the window that are held."""
        oldest = self.rows_made - self._size
        return int(place(self.before, self.rows_made) - place(self.before, oldest))

    @property
    def shards(self) -> tuple[Shard, ...]:
        """The shards that hold rows of the window, oldest first."""
        return tuple(self._shards)

    @property
    def shard_numbers(self) -> tuple[int, ...]:
        """The shards that hold rows of the window; all earlier ones may be deleted."""
        return tuple(shard.number for shard in self._shards)

    def add(self, rows: Rows) -> int:
        """Add the rows of a new shard, drop the oldest; return the shard's number."""
        number, begin = self.next_shard, self.rows_made
        self.extend(own_rows(rows, self.before, begin), begin + count(rows))
        self.next_shard += 1
        shards = [*self._shards, Shard(number, begin, self.rows_made)]
        oldest = self.rows_made - self._size
        self._shards = [shard for shard in shards if shard.end > oldest]
        return number

    def extend(self, rows: Rows, rows_made: int) -> None:
        """Add the rows to be held of those made up to `rows_made`; drop the oldest."""
        expected = place(self.before, rows_made) - place(self.before, self.rows_made)
        if count(rows) != expected:
            raise ValueError(
                f"got {count(rows)} rows, expected {expected}: those that this window holds of "
                f"rows {self.rows_made} to {rows_made}"
            )
        self._write(rows)
        new, self.rows_made = rows_made - self.rows_made, rows_made
        self._size = min(self._size + new, self.config.capacity(rows_made))
        self._oldest.fill_(rows_made - self._size)
        self._num_rows.fill_(self._size)

    def refill(self, shards: Iterable[tuple[int, Rows]], rows_made: int) -> None:
        """Read back the shards (number, rows), in order: the last of `rows_made` rows."""
        loaded = list(shards)
        self.rows_made = rows_made - sum(count(rows) for _, rows in loaded)
        if self.rows_made < 0:
            raise FileDamaged(
                f"{rows_made} rows were made, but its shards hold {rows_made - self.rows_made}; "
                "restore it from a copy"
            )
        for number, rows in loaded:
            self.next_shard = number
            self.add(rows)

    def newest(self, number: int) -> Rows:
        """Return a copy of the newest `number` rows in host memory, the oldest of them first."""
        parts = self._newest(number)
        return concatenate([Rows(*map(to_host, select(self._ring, part))) for part in parts])

    def own_offsets(
        self, card: int, offsets: NDArray[np.int64], *, stream: np.uint64
    ) -> NDArray[np.int64]:
        """Return those of the cards `offsets` behind number `card` whose rows are held."""
        if not self.is_part:
            return offsets
        self._check_filled()
        is_own = np.zeros(len(offsets), np.bool_)
        oldest = self.rows_made - self._size
        mark_own(card, offsets, oldest, self._size, stream, self.before, is_own)
        return offsets[is_own]

    def batch(
        self,
        card: NDArray[np.int64] | torch.Tensor,
        offsets: NDArray[np.int64] | torch.Tensor,
        *,
        stream: np.uint64,
        result_mix: float,
    ) -> Batch:
        """Build a batch of the cards `offsets` [B] behind number `card` [1] (see `sampling`)."""
        self._check_filled()
        first, others = (torch.as_tensor(each, device=self.device) for each in (card, offsets))
        held = (view(self._oldest), view(self._num_rows), view(self._part))
        deal = Deal(view(first), view(others), *held, stream)
        arguments = (self.game, self._ring, deal, self._symmetries)
        return build_batch(*arguments, result_mix=result_mix, device=self.device)

    def statistics(self, iteration: int) -> WindowStatistics:
        """Return figures of the window in `iteration`; on a GPU this waits for the device."""
        parts = self._newest(self._size)
        return window_statistics(self._ring, parts, rows_made=self.rows_made, iteration=iteration)

    def _check_filled(self) -> None:
        if not self._size:
            raise ValueError("the window is empty; add rows before building a batch")

    def _newest(self, number: int) -> list[slice]:
        """Return where the newest `number` rows lie in the ring: behind its end comes its start."""
        capacity = self._capacity
        first = (self.rows_made - number) % capacity
        return [
            slice(first, min(first + number, capacity)),
            slice(0, max(0, first + number - capacity)),
        ]

    def _write(self, rows: Rows) -> None:
        """Copy rows to their places in the ring; of too many, the newest."""
        capacity, new = self._capacity, count(rows)
        self._make_wider(rows.legal.shape[1])
        skipped = max(0, new - capacity)
        first = (int(place(self.before, self.rows_made)) + skipped) % capacity
        end = min(first + new - skipped, capacity)
        split = skipped + end - first
        self._copy(select(rows, slice(skipped, split)), slice(first, end))
        self._copy(select(rows, slice(split, new)), slice(0, new - split))

    def _copy(self, rows: Rows, span: slice) -> None:
        columns = map(np.ascontiguousarray, rows)
        for name, target, values in zip(Rows._fields, self._ring, columns, strict=True):
            tensor, source = as_tensor(plain(target))[span], torch.from_numpy(plain(values))
            if name in PADDED:
                tensor = tensor[:, : source.shape[1]]
            tensor.copy_(source)

    def _make_wider(self, width: int) -> None:
        """Make space for rows of more legal actions; only rows in host memory are narrower."""
        present = self._ring.legal.shape[1]
        if width > present:
            self._ring = widen(self._ring, min(self.game.max_legal, max(width, 2 * present)))
