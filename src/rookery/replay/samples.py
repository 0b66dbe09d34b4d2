"""The positions of many games as columns: states as the rules store them, never planes.

A Connect Four row takes about 57 bytes, so a million of them fit in 60 MB.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.games import Game, GameRecord, States

MAX_ENTRIES = 2**32 - 1  # what `starts` can count


@dataclass(frozen=True)
class Samples:
    """R rows, each one searched position. Results and values are for the player to move.

    states: [R] positions.
    results: [R] int8 how the game ended: WIN, DRAW or LOSS.
    values: [R, 2] float16 the search's value and draw probability.
    starts: [R + 1] uint32 where each row's policy begins in the two arrays below.
    actions: [M] int16 the legal actions, row after row.
    probabilities: [M] float16 the search's policy over them.
    plies: [R] int16 moves made before the position.
    born: [R] int32 iteration in which the row was made.
    """

    states: States
    results: NDArray[np.int8]
    values: NDArray[np.float16]
    starts: NDArray[np.uint32]
    actions: NDArray[np.int16]
    probabilities: NDArray[np.float16]
    plies: NDArray[np.int16]
    born: NDArray[np.int32]

    def __post_init__(self) -> None:
        rows = {len(column) for column in (self.states, self.results, self.values)}
        rows |= {len(self.starts) - 1, len(self.plies), len(self.born)}
        entries = {int(self.starts[-1]), len(self.actions), len(self.probabilities)}
        if len(rows) > 1 or len(entries) > 1:
            raise ValueError(f"columns of one length expected, got {rows} rows, {entries} entries")

    def __len__(self) -> int:
        return len(self.states)

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(getattr(self, field.name).nbytes for field in fields(self))

    def between(self, first: int, last: int) -> "Samples":
        """Rows `first` up to, not including, `last`, as views of these columns."""
        entries = slice(int(self.starts[first]), int(self.starts[last]))
        return Samples(
            states=self.states[first:last],
            results=self.results[first:last],
            values=self.values[first:last],
            starts=self.starts[first : last + 1] - self.starts[first],
            actions=self.actions[entries],
            probabilities=self.probabilities[entries],
            plies=self.plies[first:last],
            born=self.born[first:last],
        )

    @classmethod
    def empty(cls, game: Game) -> "Samples":
        """No rows of `game`."""
        return cls(
            states=game.blank_states(0),
            results=np.zeros(0, np.int8),
            values=np.zeros((0, 2), np.float16),
            starts=np.zeros(1, np.uint32),
            actions=np.zeros(0, np.int16),
            probabilities=np.zeros(0, np.float16),
            plies=np.zeros(0, np.int16),
            born=np.zeros(0, np.int32),
        )

    @classmethod
    def from_records(cls, records: Sequence[GameRecord], iteration: int) -> "Samples":
        """The rows of at least one game, in order, all born in `iteration`."""
        return cls.concatenate([_from_record(record, iteration) for record in records])

    @classmethod
    def concatenate(cls, parts: Sequence["Samples"]) -> "Samples":
        """The rows of at least one part, in order, copied; dtypes are those of the first."""
        columns: dict[str, NDArray[Any]] = {}  # every column has its own dtype
        for name in (field.name for field in fields(cls) if field.name != "starts"):
            arrays = [getattr(part, name) for part in parts]
            # Without it numpy would turn records into tuples that have no field names.
            columns[name] = np.concatenate(arrays, dtype=arrays[0].dtype)
        return cls(starts=_join_starts([part.starts for part in parts]), **columns)


def _from_record(record: GameRecord, iteration: int) -> Samples:
    """One game's rows, sharing memory where the types allow it."""
    plies = np.arange(record.first_ply, record.first_ply + len(record), dtype=np.int16)
    return Samples(
        states=record.states,
        results=record.results(),
        values=record.values.astype(np.float16),
        starts=record.policy_starts.astype(np.uint32),
        actions=record.policy_actions,
        probabilities=record.policy,
        plies=plies,
        born=np.full(len(record), iteration, np.int32),
    )


def _join_starts(parts: Sequence[NDArray[Any]]) -> NDArray[np.uint32]:
    """The starts of the parts' rows once their entries lie one after the other."""
    offsets = np.cumsum([0, *(int(part[-1]) for part in parts)])
    if offsets[-1] > MAX_ENTRIES:
        raise ValueError(
            f"{offsets[-1]} policy entries, at most {MAX_ENTRIES} fit; lower the window"
        )
    joined = np.zeros(1 + sum(len(part) - 1 for part in parts), np.uint32)
    ends = np.cumsum([1, *(len(part) - 1 for part in parts)])
    for part, offset, (first, last) in zip(parts, offsets[:-1], pairwise(ends), strict=True):
        joined[first:last] = part[1:].astype(np.int64) + offset
    return joined
