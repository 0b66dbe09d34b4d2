"""Which rows of the replay window each trainer holds, and the messages that bring what it lacks.

Every trainer holds the whole window, or each one its part (`replay.sharding=split`). A part
consists of lanes; a trainer that gets other lanes reads them from the shards of the run if it can.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rookery.replay import Window, deal_lanes, lanes_before, own_rows, to_columns
from rookery.training.trainers.messages import AddRows, LoadRows


@dataclass
class HeldRows:
    """The rows of one trainer."""

    rows_made: int = 0
    """Rows of the run that the trainer has been sent or that came before those."""
    lanes: tuple[int, ...] = ()
    """The part of the window that it holds; empty = all of it."""


class TrainerRows:
    """Divides a window among trainers."""

    def __init__(
        self, window: Window, is_split: bool, shard_path: Callable[[int], Path] | None
    ) -> None:
        """`shard_path` returns where trainers find a shard of the window, if they can read it."""
        self.window, self.is_split, self._shard_path = window, is_split, shard_path
        self._lanes: Mapping[int, tuple[int, ...]] = {}
        """The part of each member of the group; none if all hold the whole window."""

    def deal(self, members: Sequence[int], workers: int) -> None:
        """Divide the window among the members of a group of up to `workers` trainers."""
        if self.is_split:
            self._lanes = deal_lanes(members, max(workers, members[-1] + 1))

    def missing(self, number: int, held: HeldRows) -> AddRows | LoadRows | None:
        """Return the message with the rows that a trainer lacks; None if it has all."""
        lanes, made = self._lanes.get(number, ()), self.window.rows_made
        new = made - held.rows_made
        if new == 0 and lanes == held.lanes:
            return None
        is_whole = held.rows_made == 0 or new > len(self.window) or lanes != held.lanes
        held.rows_made, held.lanes = made, lanes
        if is_whole and lanes and self._shard_path is not None:
            return self._in_shards(lanes, self._shard_path)
        count = len(self.window) if is_whole else new
        rows, begin = self.window.newest(count), made - count
        if lanes:
            rows = own_rows(rows, lanes_before(lanes), begin)
        return AddRows(to_columns(rows), begin, made, is_whole, lanes)

    def _in_shards(self, lanes: tuple[int, ...], path: Callable[[int], Path]) -> LoadRows:
        shards = self.window.shards
        return LoadRows(
            paths=tuple(str(path(shard.number).resolve()) for shard in shards),
            begin=shards[0].begin,
            rows_made=self.window.rows_made,
            lanes=lanes,
        )
