"""Named random streams are reproducible and independent."""

import numpy as np
import pytest
from scipy import stats

from rookery.base import generator, seeds, uniform


def test_the_same_name_gives_the_same_stream() -> None:
    first, second = (generator(7, "opening", 3).random(100) for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize(
    "other",
    [(8, "opening", 3, 1), (7, "noise", 3, 1), (7, "opening", 4, 1), (7, "opening", 31)],
)
def test_any_other_name_gives_another_stream(other: tuple[int, str, int]) -> None:
    mine = generator(7, "opening", 3, 1).random(100)
    assert not np.intersect1d(mine, generator(*other).random(100)).size


def test_seeds_are_distinct_and_never_zero() -> None:
    states = seeds(10_000, 0, "games")
    assert len(np.unique(states)) == 10_000 and states.min() > 0


def test_uniform_is_reproducible_and_advances_only_its_own_stream() -> None:
    states = seeds(3, 0, "games")
    before = states.copy()
    numbers = [uniform(states, 1) for _ in range(50)]
    assert states[0] == before[0] and states[2] == before[2] and states[1] != before[1]
    assert numbers == [uniform(before, 1) for _ in range(50)]


def test_uniform_follows_vignas_xorshift64star() -> None:
    word, states = 12345, np.array([12345], np.uint64)
    for _ in range(20):
        word ^= word >> 12
        word ^= word << 25 & 2**64 - 1
        word ^= word >> 27
        expected = ((word * 2685821657736338717 & 2**64 - 1) >> 41) / 2**23 + 2**-24
        assert uniform(states, 0) == pytest.approx(expected, rel=1e-6)


def test_uniform_is_uniform_inside_zero_and_one() -> None:
    states = seeds(1, 3, "games")
    numbers = np.array([uniform(states, 0) for _ in range(20_000)])
    assert numbers.min() > 0 and numbers.max() < 1
    assert stats.kstest(numbers, "uniform").pvalue > 1e-3


def test_uniform_stays_inside_zero_and_one_at_its_extremes() -> None:
    """Kernels take the logarithm of x and of -log(x), so that neither 0 nor 1 may occur."""
    inverse = pow(2685821657736338717, -1, 2**64)
    for product in (2**64 - 1, 1):
        states = np.array([state_before(product * inverse % 2**64)], np.uint64)
        assert 0 < uniform(states, 0) < 1


def state_before(word: int) -> int:
    """Return the state before `word`: invert the three shifts of xorshift64*."""
    word ^= word >> 27 ^ word >> 54
    word ^= (word << 25 ^ word << 50) & 2**64 - 1
    return word ^ word >> 12 ^ word >> 24 ^ word >> 36 ^ word >> 48 ^ word >> 60
