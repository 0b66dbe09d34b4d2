"""Which rows an update learns from: the window as a deck of cards, shuffled anew for every pass.

A card's place in the shuffled deck is computed, not stored: rows can be dealt from anywhere in a
deck of any size, by any number of learners that know the seed, and none of them keeps a list.
"""

import numpy as np
from numpy.typing import NDArray

from rookery.base import generator

ROUNDS = 4
Indices = NDArray[np.int64]
Numbers = NDArray[np.uint64]


def deal(num_rows: int, *, seed: int, first: int, count: int) -> Indices:
    """Cards `first` to `first + count` of an endless deal: every pass deals each row once."""
    if num_rows < 1:
        raise ValueError("the window is empty; add samples before drawing a batch")
    cards = np.arange(first, first + count)
    dealt = np.empty(count, np.int64)
    for turn in range(first // num_rows, (first + count - 1) // num_rows + 1):
        mine = cards // num_rows == turn
        dealt[mine] = _shuffled(cards[mine] % num_rows, num_rows, seed=seed, turn=turn)
    return dealt


def _shuffled(places: Indices, num_rows: int, *, seed: int, turn: int) -> Indices:
    """The rows at `places` of the deck as it lies in pass `turn`.

    A Feistel network permutes the numbers below the next power of four; those that land outside
    the deck are permuted again until they are in it, which keeps the whole a permutation.
    """
    half = max(1, ((num_rows - 1).bit_length() + 1) // 2)
    keys = generator(seed, "deck", turn).integers(2**62, size=ROUNDS, dtype=np.uint64)
    keys = 2 * keys + 1
    rows = _permuted(places.astype(np.uint64), half, keys)
    while (outside := rows >= num_rows).any():
        rows[outside] = _permuted(rows[outside], half, keys)
    return rows.astype(np.int64)


def _permuted(numbers: Numbers, half: int, keys: Numbers) -> Numbers:
    """A permutation of the numbers of 2 * `half` bits."""
    shift, mask = np.uint64(half), np.uint64((1 << half) - 1)
    high, low = numbers >> shift, numbers & mask
    for key in keys:
        mixed = (low + key) * key
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        high, low = low, high ^ ((mixed >> np.uint64(32)) & mask)
    found: Numbers = (high << shift) | low
    return found
