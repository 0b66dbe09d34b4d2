"""Ranks that hold a part of the window each learn what one learner with all rows learns."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from apart import apart
from rank_processes import TOGETHER, end_ranks, learn_alone, learn_together

SPLIT = replace(TOGETHER, balance_every=5)


@pytest.fixture(scope="module", autouse=True)
def no_ranks_are_left() -> Iterator[None]:
    yield
    end_ranks()


@pytest.mark.parametrize(
    ("size", "synchronise", "accumulate"),
    [
        (2, "all_reduce", 1),
        (3, "all_reduce", 3),
        pytest.param(2, "gather_broadcast", 2, marks=pytest.mark.slow),
        pytest.param(2, "parameter_server", 1, marks=pytest.mark.slow),
    ],
)
def test_parts_of_the_window_give_the_same_updates(
    tmp_path: Path, size: int, synchronise: str, accumulate: int
) -> None:
    config = replace(SPLIT, synchronise=synchronise, accumulate=accumulate)
    found = learn_together(config, size, 40, tmp_path, is_split=True)
    assert sum(rank["rows"] for rank in found) == 40 * config.batch_size
    assert sum(rank["rows_held"] for rank in found) == 400
    alone = learn_alone(replace(config, method="single"), 40).state()
    assert apart(alone, found[0]["state"]) < 2e-3


def test_a_rank_without_rows_changes_nothing(tmp_path: Path) -> None:
    found = learn_together(SPLIT, 2, 10, tmp_path, is_split=True, rows=1)
    assert sorted(rank["rows_held"] for rank in found) == [0, 1]
    assert apart(learn_alone(SPLIT, 10, rows=1).state(), found[0]["state"]) < 2e-3


def test_local_sgd_learns_from_parts_of_the_window(tmp_path: Path) -> None:
    config = replace(SPLIT, method="data_parallel", sync_every=3)
    found = learn_together(config, 2, 6, tmp_path, is_split=True)
    weights = [
        {name: array for name, array in rank["state"].items() if name.startswith("net.")}
        for rank in found
    ]
    for name in weights[0]:
        np.testing.assert_array_equal(weights[0][name], weights[1][name], err_msg=name)
