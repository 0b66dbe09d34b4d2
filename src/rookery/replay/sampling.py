"""Which rows an update learns from: the window is a deck that is shuffled for every pass.

An endless sequence of cards is dealt; update n takes cards n * B to (n + 1) * B. Every pass deals
each row of the window once. The position of a card in the shuffled deck is computed, not stored, so
that cards can be dealt from anywhere, by any learner that knows the seed, on the CPU and on a GPU
alike. When the window changes, the deck changes with it.
"""

import numpy as np

from rookery.base import Index, compiled

ROUNDS = 8
"""With fewer, some orders of windows below a hundred rows are likelier than others."""
ONE, TWO = np.uint64(1), np.uint64(2)
SHIFT_30, SHIFT_27, SHIFT_31, SHIFT_32 = map(np.uint64, (30, 27, 31, 32))
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@compiled
def mix(number: np.uint64) -> np.uint64:
    """Return 64 bits that look random (the finaliser of splitmix64, Steele et al. 2014)."""
    number = np.uint64(number + GOLDEN)
    number = np.uint64((number ^ (number >> SHIFT_30)) * MIX_1)
    number = np.uint64((number ^ (number >> SHIFT_27)) * MIX_2)
    return np.uint64(number ^ (number >> SHIFT_31))


@compiled
def permute(number: np.uint64, half: np.uint64, key: np.uint64) -> np.uint64:
    """Return `number` under a permutation of 2 * `half` bits: a Feistel network keyed by `key`."""
    mask = np.uint64((ONE << half) - ONE)
    high, low = np.uint64(number >> half), np.uint64(number & mask)
    for number_of_round in range(ROUNDS):
        mixed = mix(np.uint64(low ^ mix(np.uint64(key + np.uint64(number_of_round)))))
        high, low = low, np.uint64(high ^ ((mixed >> SHIFT_32) & mask))
    return np.uint64((high << half) | low)


@compiled
def half_bits(num_rows: np.uint64) -> np.uint64:
    """Return half the bits of the smallest power of four that is at least `num_rows`."""
    half = ONE
    while np.uint64(ONE << np.uint64(TWO * half)) < num_rows:
        half = np.uint64(half + ONE)
    return half


@compiled
def dealt_row(card: np.uint64, num_rows: np.uint64, stream: np.uint64) -> Index:
    """Return the row, of `num_rows`, that is dealt as card number `card`.

    Numbers that the permutation takes outside the deck are permuted again until they are inside,
    which keeps the whole a permutation.
    """
    key = mix(np.uint64(stream ^ mix(np.uint64(card // num_rows))))
    half = half_bits(num_rows)
    row = permute(np.uint64(card % num_rows), half, key)
    while row >= num_rows:
        row = permute(row, half, key)
    return np.int64(row)


@compiled
def dealt_symmetry(card: np.uint64, num_symmetries: np.uint64, stream: np.uint64) -> Index:
    """Return the symmetry by which card number `card` is turned."""
    return np.int64(mix(np.uint64(mix(stream) ^ card)) % num_symmetries)
