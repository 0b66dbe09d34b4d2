"""Ranks that learn together come to what one learner comes to, in real processes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rank_processes import learn_alone, learn_together, new_learner
from rookery.learning import Learner, LearningConfig

CONFIG = LearningConfig(
    method="distributed",
    batch_size=48,
    precision="float32",
    warmup_updates=3,
    learning_rate=1e-4,
    balance_every=0,
)


def apart(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> float:
    """How far two learners are from each other, in units of the way they have come."""
    start = new_learner(Learner, CONFIG).state()
    names = [name for name in one if name.startswith(("net.", "play."))]
    assert names and one.keys() == other.keys()
    gap = sum(float(((one[n].astype(float) - other[n]) ** 2).sum()) for n in names)
    way = sum(float(((one[n].astype(float) - start[n]) ** 2).sum()) for n in names)
    return (gap / way) ** 0.5


def test_the_measure_sees_a_single_missing_update() -> None:
    assert apart(learn_alone(CONFIG, 100).state(), learn_alone(CONFIG, 99).state()) > 0.01


@pytest.mark.parametrize("synchronise", ["all_reduce", "gather_broadcast", "parameter_server"])
def test_a_hundred_updates_together_equal_those_alone(tmp_path: Path, synchronise: str) -> None:
    config = replace(CONFIG, synchronise=synchronise)
    alone = learn_alone(config, 100).state()
    found = learn_together(config, 2, 100, tmp_path)
    served = synchronise == "parameter_server"  # the others have no moments
    for rank in found[: 1 if served else 2]:
        assert rank["state"]["updates"] == 100
        assert apart(alone, rank["state"]) < 2e-3


def test_batches_in_parts_and_uneven_ranks_change_nothing(tmp_path: Path) -> None:
    config = replace(CONFIG, accumulate=2, balance_every=5, max_batch_ratio=4.0)
    found = learn_together(config, 3, 40, tmp_path, delays=[0.0, 0.0, 0.002])
    shares = [len(rank["mine"]) for rank in found]
    assert sum(shares) == 48 and shares[2] < min(shares[:2]) and max(shares) <= 4.5 * shares[2]
    alone = learn_alone(replace(config, method="single"), 40).state()
    assert apart(alone, found[0]["state"]) < 2e-3


def test_every_row_is_seen_by_one_rank_an_epoch(tmp_path: Path) -> None:
    found = learn_together(CONFIG, 2, 1, tmp_path)
    both = [set(rank["mine"]) for rank in found]
    assert not both[0] & both[1] and both[0] | both[1] == set(range(48))


@pytest.mark.parametrize("compress", ["fp16", "bf16", "topk", "powersgd"])
def test_compressed_gradients_keep_ranks_equal_and_learn(tmp_path: Path, compress: str) -> None:
    config = replace(CONFIG, compress=compress, compression_ratio=0.2, learning_rate=3e-3)
    found = learn_together(config, 2, 60, tmp_path)
    assert apart(found[0]["state"], found[1]["state"]) < 1e-6
    first = learn_together(config, 2, 2, tmp_path / "first")
    assert found[0]["losses"]["total"] < first[0]["losses"]["total"]


@pytest.mark.parametrize("synchronise", ["all_reduce", "gather_broadcast", "parameter_server"])
def test_apart_and_averaged(tmp_path: Path, synchronise: str) -> None:
    config = replace(
        CONFIG,
        method="data_parallel",
        sync_every=4,
        synchronise=synchronise,
        outer_momentum=0.5,
        learning_rate=1e-3,
    )
    found = learn_together(config, 2, 10, tmp_path)
    weights = [
        {n: a for n, a in rank["state"].items() if n.startswith("net.") and a.dtype == np.float32}
        for rank in found
    ]
    for name in weights[0]:
        np.testing.assert_array_equal(weights[0][name], weights[1][name])
    assert apart(learn_alone(config, 10).state(), found[0]["state"]) < 1.0
