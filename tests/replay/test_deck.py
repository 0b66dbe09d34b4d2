"""The deck: every pass deals each row once, from wherever it is looked at."""

import numpy as np
import pytest

from rookery.replay import deal


@pytest.mark.parametrize("num_rows", [1, 2, 3, 5, 64, 65, 1000, 4097])
def test_every_pass_deals_each_row_once(num_rows: int) -> None:
    dealt = deal(num_rows, seed=3, first=0, count=3 * num_rows).reshape(3, num_rows)
    assert (np.sort(dealt, axis=1) == np.arange(num_rows)).all()


def test_the_deal_can_be_taken_up_anywhere() -> None:
    whole = deal(100, seed=3, first=0, count=250)
    parts = [deal(100, seed=3, first=first, count=50) for first in range(0, 250, 50)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_passes_and_seeds_shuffle_differently() -> None:
    first, second = deal(1000, seed=3, first=0, count=2000).reshape(2, 1000)
    other = deal(1000, seed=4, first=0, count=1000)
    for one, another in ((first, second), (first, other), (first, np.arange(1000))):
        assert (one == another).mean() < 0.02
        assert abs(np.corrcoef(one, another)[0, 1]) < 0.15


def test_an_empty_deck_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        deal(0, seed=1, first=0, count=1)
