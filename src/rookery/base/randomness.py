"""Named random streams: every stream is derived from (seed, purpose, indices).

Different workers, steps and purposes never share a stream, and there is no global generator.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from rookery.base.compiled import Index, Number, compiled

_12, _25, _27, _41 = np.uint64(12), np.uint64(25), np.uint64(27), np.uint64(41)
_MULTIPLIER = np.uint64(2685821657736338717)


def generator(seed: int, purpose: str, *indices: int) -> np.random.Generator:
    """Return the stream named by `seed`, `purpose` and `indices`."""
    name = ":".join([str(seed), purpose, *map(str, indices)])
    digest = hashlib.sha256(name.encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))


def seeds(count: int, seed: int, purpose: str, *indices: int) -> NDArray[np.uint64]:
    """Return initial states [count] for `uniform`, never 0."""
    stream = generator(seed, purpose, *indices)
    return stream.integers(1, 2**63, size=count, dtype=np.uint64)


@compiled
def uniform(states: NDArray[np.uint64], index: Index) -> Number:
    """Return the next number in (0, 1) of stream `index` (xorshift64*, Vigna 2016)."""
    state = states[index]
    state ^= state >> _12
    state ^= state << _25
    state ^= state >> _27
    states[index] = state
    return (np.float32((state * _MULTIPLIER) >> _41) + np.float32(0.5)) * np.float32(2.0**-23)
