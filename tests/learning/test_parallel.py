"""Ranks that learn together come to what one learner comes to, in real processes."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from apart import apart
from rank_processes import TOGETHER as CONFIG
from rank_processes import learn_alone, learn_together, new_learner, random_window
from rookery.learning import Learner, LearningConfig
from rookery.learning.parallel.balance import fair_shares, rows_of
from rookery.nets import NetConfig
from rookery.replay import deal


def test_the_measure_sees_a_single_missing_update() -> None:
    assert apart(learn_alone(CONFIG, 100).state(), learn_alone(CONFIG, 99).state()) > 0.005


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


def test_every_row_is_seen_by_one_rank_an_epoch() -> None:
    shares = fair_shares(48, [3.0, 1.0, 2.0], largest_ratio=4.0)
    seen = []
    for update in range(10):
        dealt = deal(480, seed=7, first=48 * update, count=48)
        seen += [dealt[rows_of(rank, shares, parts=1)] for rank in range(3)]
    assert sorted(np.concatenate(seen)) == list(range(480))


@pytest.mark.parametrize("rates", [[1.0, 1.0], [9.0, 1.0, 1.0], [5.0, 0.1], [2.0, 1.0, 3.0]])
def test_shares_follow_rates_within_their_bounds(rates: list[float]) -> None:
    shares = fair_shares(1000, rates, largest_ratio=4.0)
    assert sum(shares) == 1000 and min(shares) >= 1
    assert max(shares) <= 4.05 * min(shares)
    assert [shares[i] for i in np.argsort(rates)] == sorted(shares)


def losses_at_first(config: LearningConfig) -> float:
    learner = new_learner(Learner, replace(config, method="single"))
    return learner.learn(random_window(learner.game, 400), 2, progress=0.2).losses.total


@pytest.mark.parametrize("compress", ["fp16", "bf16", "topk", "powersgd"])
def test_compressed_gradients_keep_ranks_equal_and_learn(tmp_path: Path, compress: str) -> None:
    config = replace(CONFIG, compress=compress, compression_ratio=0.2, learning_rate=3e-3)
    found = learn_together(config, 2, 60, tmp_path)
    assert apart(found[0]["state"], found[1]["state"]) < 1e-6
    assert found[0]["losses"]["total"] < losses_at_first(config)


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


@pytest.mark.skipif(not shutil.which("g++"), reason="torch.compile needs a compiler")
def test_compiled_gradients_are_the_same(tmp_path: Path) -> None:
    found = learn_together(replace(CONFIG, compiled=True), 2, 5, tmp_path)
    assert apart(learn_alone(CONFIG, 5).state(), found[0]["state"]) < 2e-3


def test_spiking_nets_learn_together_what_one_learns_alone(tmp_path: Path) -> None:
    net = NetConfig("spiking", width=8, depth=1)
    alone = learn_alone(CONFIG, 20, net=net).state()
    for rank in learn_together(CONFIG, 2, 20, tmp_path, net=net):
        for name in alone:
            np.testing.assert_allclose(rank["state"][name], alone[name], atol=1e-5, err_msg=name)
