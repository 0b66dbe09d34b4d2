"""Parts of a replay window, for trainers that hold only some of its rows each.

Every row of a run has a number. Row n is in lane n modulo `LANES`, and a part is a set of lanes. So
a part is about the same share of every game and of every batch, and when a trainer is lost the
others take its lanes and keep their own. The rows of a part lie in a ring in their order.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, compiled
from rookery.replay.rows import Rows, count
from rookery.replay.sampling import dealt_row

LANES = 1024
WHOLE = np.array([0, 1])
"""The part that is the whole window, in one lane."""


def lanes_before(lanes: Sequence[int]) -> NDArray[np.int64]:
    """Return a part as kernels take it: [LANES + 1] how many of its lanes are below each lane."""
    is_own = np.zeros(LANES, np.int64)
    is_own[list(lanes)] = 1
    return np.concatenate([[0], np.cumsum(is_own)])


def deal_lanes(members: Sequence[int], trainers: int) -> Mapping[int, tuple[int, ...]]:
    """Return the lanes of each member of a group, out of trainers numbered below `trainers`.

    A lane belongs to one trainer as long as that is a member, and else to the others in turn.
    """
    found: dict[int, list[int]] = {number: [] for number in members}
    lost = 0
    for lane in range(LANES):
        owner = lane % trainers
        if owner not in found:
            owner, lost = members[lost % len(members)], lost + 1
        found[owner].append(lane)
    return {number: tuple(lanes) for number, lanes in found.items()}


def own_rows(rows: Rows, before: NDArray[np.int64], first: int) -> Rows:
    """Return the rows that belong to a part; the first of all is row number `first`."""
    if len(before) == len(WHOLE):
        return rows
    lanes = (first + np.arange(count(rows))) % LANES
    is_own = before[lanes + 1] > before[lanes]
    return Rows(*(column[is_own] for column in rows))


@compiled
def place(before: Any, number: Index) -> Index:
    """Return how many rows of a part come before row `number`."""
    lanes = np.int64(before.shape[0] - 1)
    return np.int64((number // lanes) * before[lanes] + before[number % lanes])


@compiled
def mark_own(  # type: ignore[no-untyped-def]
    card, offsets, oldest, num_rows, stream, before, is_own
) -> None:
    """Set is_own [B] to whether the rows dealt as `offsets` [B] from `card` are in a part."""
    lanes = np.int64(before.shape[0] - 1)
    for b in range(offsets.shape[0]):
        row = dealt_row(np.uint64(card + offsets[b]), np.uint64(num_rows), stream)
        lane = np.int64((oldest + row) % lanes)
        is_own[b] = before[lane + 1] > before[lane]
