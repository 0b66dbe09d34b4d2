"""What makes games differ: random openings, and moves drawn from the policy."""

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, compiled, uniform


@compiled
def draw_index(
    policy: NDArray[np.float32],
    count: Index,
    temperature: float,
    streams: NDArray[np.uint64],
    g: Index,
) -> int:
    """One of the first `count` indices, with probability policy ** (1 / temperature)."""
    total = 0.0
    for index in range(count):
        total += policy[index] ** (1.0 / temperature)
    mark = uniform(streams, g) * total
    last = 0
    for index in range(count):
        if policy[index] > 0:
            last = index
            mark -= policy[index] ** (1.0 / temperature)
            if mark < 0:
                break
    return last


@compiled
def draw_opening_plies(share: float, most: int, streams: NDArray[np.uint64], g: Index) -> int:
    """How many random moves the next game begins with."""
    if uniform(streams, g) >= share:
        return 0
    return min(1 + int(uniform(streams, g) * most), most)
