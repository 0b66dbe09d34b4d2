"""Figures about a window that tell whether self-play still finds something new."""

import numpy as np
from numpy.typing import NDArray

from rookery.games import States
from rookery.replay.samples import Samples

CHUNK = 1 << 20  # policy entries converted at a time

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, odd
_SHIFT = np.uint64(32)


def duplicate_share(states: States) -> float:
    """Share of rows whose position occurs in an earlier row.

    All rows are counted: a few positions, the first above all, make up most of the copies, so
    that a subset would tell little.
    """
    return 1.0 - len(np.unique(hash_states(states))) / len(states) if len(states) else 0.0


def hash_states(states: States) -> NDArray[np.uint64]:
    """[R] 64-bit hashes of the states' bytes; different positions practically never share one."""
    itemsize = states.dtype.itemsize
    padded = np.zeros((len(states), -(-itemsize // 8) * 8), np.uint8)
    padded[:, :itemsize] = np.ascontiguousarray(states).view(np.uint8).reshape(-1, itemsize)
    hashes = np.zeros(len(states), np.uint64)
    for word in padded.view(np.uint64).T:
        hashes = (hashes ^ word) * _MULTIPLIER
        hashes = (hashes ^ hashes >> _SHIFT) * _MULTIPLIER
        hashes ^= hashes >> _SHIFT
    return hashes


def mean_entropy(samples: Samples) -> float:
    """Mean entropy of the rows' policies, in nats."""
    total = 0.0
    for first in range(0, len(samples.probabilities), CHUNK):
        chances = samples.probabilities[first : first + CHUNK].astype(np.float32)
        chances = chances[chances > 0]
        total -= float((chances * np.log(chances)).sum(dtype=np.float64))
    return total / len(samples) if len(samples) else 0.0
