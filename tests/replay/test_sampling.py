"""Sampling: every pass deals each row once, in an order that follows from the stream alone."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import slow_replay
from rookery.replay.sampling import dealt_row, dealt_symmetry

STREAM = 0xFEDCBA9876543210


def deal(num_rows: int, count: int, *, first: int = 0, stream: int = STREAM) -> NDArray[np.int64]:
    size, key = np.uint64(num_rows), np.uint64(stream)
    return np.array([dealt_row(np.uint64(first + i), size, key) for i in range(count)], np.int64)


@pytest.mark.parametrize("num_rows", range(1, 201))
def test_every_pass_deals_each_row_once(num_rows: int) -> None:
    dealt = deal(num_rows, 3 * num_rows).reshape(3, num_rows)
    assert (np.sort(dealt, axis=1) == np.arange(num_rows)).all()


@pytest.mark.parametrize("num_rows", [4**8, 4**8 + 1, 100_003])
@pytest.mark.parametrize("passes_before", [0, 2**40])
def test_passes_of_large_windows_deal_each_row_once(num_rows: int, passes_before: int) -> None:
    dealt = deal(num_rows, num_rows, first=passes_before * num_rows)
    assert (np.bincount(dealt, minlength=num_rows) == 1).all()


@pytest.mark.parametrize("num_rows", [1, 2, 3, 17, 1000, 4**10, 10**9])
def test_rows_and_symmetries_are_those_of_plain_integers(num_rows: int) -> None:
    for card in (0, 1, 7, 12345, 2**33 + 5):
        found = dealt_row(np.uint64(card), np.uint64(num_rows), np.uint64(STREAM))
        assert found == slow_replay.dealt_row(card, num_rows, STREAM)
        found = dealt_symmetry(np.uint64(card), np.uint64(8), np.uint64(STREAM))
        assert found == slow_replay.dealt_symmetry(card, 8, STREAM)


def test_passes_and_streams_shuffle_differently() -> None:
    first, second = deal(1000, 2000).reshape(2, 1000)
    other = deal(1000, 1000, stream=STREAM + 1)
    for one, another in ((first, second), (first, other), (first, np.arange(1000))):
        assert (one == another).sum() < 10  # two shuffles agree in one row, on average
        assert abs(np.corrcoef(one, another)[0, 1]) < 0.15


def test_every_row_is_equally_likely_as_every_card() -> None:
    passes = deal(6, 6 * 3000).reshape(3000, 6)
    counts = np.array([np.bincount(cards, minlength=6) for cards in passes.T])
    assert stats.chisquare(counts.ravel()).pvalue > 1e-3


def test_symmetries_are_equally_likely_for_every_row() -> None:
    cards = range(8 * 4000)
    rows = deal(8, len(cards))
    turns = [dealt_symmetry(np.uint64(card), np.uint64(8), np.uint64(STREAM)) for card in cards]
    table = np.zeros((8, 8))
    np.add.at(table, (rows, np.array(turns)), 1)
    assert stats.chisquare(table.ravel()).pvalue > 1e-3
