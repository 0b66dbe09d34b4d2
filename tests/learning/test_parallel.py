"""Ranks in separate processes: DDP equals a single learner, local SGD averages independent ones."""

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apart import apart
from rank_processes import TOGETHER as CONFIG
from rank_processes import end_ranks, learn_alone, learn_together, new_learner, random_window
from rookery.learning import Learner, LearningConfig
from rookery.learning.parallel.ddp import WHOLE_UPDATES
from rookery.learning.parallel.rank import even_shares, fair_shares, rows_of
from rookery.nets import NetConfig

LOCAL_SGD = replace(CONFIG, method="data_parallel", learning_rate=1e-3)
every_method = pytest.mark.parametrize(
    "synchronise", ["all_reduce", "gather_broadcast", "parameter_server"]
)


def test_the_measure_sees_a_single_missing_update() -> None:
    assert apart(learn_alone(CONFIG, 100).state(), learn_alone(CONFIG, 99).state()) > 0.005


@pytest.fixture(scope="module", autouse=True)
def no_ranks_are_left() -> Iterator[None]:
    yield
    end_ranks()


@every_method
def test_the_gradients_of_an_update_are_those_of_a_single_learner(
    tmp_path: Path, synchronise: str
) -> None:
    config = replace(CONFIG, synchronise=synchronise, clip_norm=1e9)
    expected = gradients_of(learn_alone(config, 1).state())
    found = gradients_of(learn_together(config, 2, 1, tmp_path)[0]["state"])
    largest = max(np.abs(array).max() for array in expected.values())
    assert sorted(found) == sorted(expected)
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-3, atol=1e-6 * largest, err_msg=name)


def gradients_of(state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return AdamW's first moments, which after one update are a tenth of the gradients."""
    return {name: array for name, array in state.items() if name.endswith(".exp_avg")}


@every_method
def test_a_hundred_updates_together_equal_those_alone(tmp_path: Path, synchronise: str) -> None:
    config = replace(CONFIG, synchronise=synchronise)
    alone = learn_alone(config, 100).state()
    found = learn_together(config, 2, 100, tmp_path)
    served = synchronise == "parameter_server"  # the others have no moments
    for rank in found[: 1 if served else 2]:
        assert rank["state"]["updates"] == 100
        assert apart(alone, rank["state"]) < 2e-3


def test_gradients_sent_after_the_backward_pass_are_the_same(tmp_path: Path) -> None:
    found = learn_together(replace(CONFIG, overlap=False), 2, 40, tmp_path)
    assert {rank["gradients"] for rank in found} == {"ExchangedGradients"}
    assert apart(learn_alone(CONFIG, 40).state(), found[0]["state"]) < 2e-3


def test_batches_in_parts_and_uneven_ranks_change_nothing(tmp_path: Path) -> None:
    config = replace(CONFIG, accumulate=2, balance_every=5, max_batch_ratio=4.0)
    found = learn_together(config, 3, 40, tmp_path, delays=[0.0, 0.0, 0.002])
    shares = [len(rank["offsets"]) for rank in found]
    assert sum(shares) == 48 and shares[2] < min(shares[:2]) and max(shares) <= 4.5 * shares[2]
    alone = learn_alone(replace(config, method="single"), 40).state()
    assert apart(alone, found[0]["state"]) < 2e-3


def test_every_row_of_a_batch_belongs_to_one_rank() -> None:
    shares = fair_shares(48, [3.0, 1.0, 2.0], largest_ratio=4.0)
    offsets = [rows_of(rank, shares, parts=2) for rank in range(3)]
    assert [len(each) for each in offsets] == [2 * share for share in shares]
    assert sorted(np.concatenate(offsets)) == list(range(96))


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


@every_method
def test_local_sgd_averages_the_weights_of_independent_learners(
    tmp_path: Path, synchronise: str
) -> None:
    config = replace(LOCAL_SGD, sync_every=3, synchronise=synchronise)
    alone = [trained_apart(config, rank, 3) for rank in range(2)]
    mean = {name: (alone[0][name] + alone[1][name]) / 2 for name in alone[0]}
    assert max(np.abs(mean[name] - alone[0][name]).max() for name in mean) > 1e-4
    found = learn_together(config, 2, 3, tmp_path)
    for rank in found:
        weights = weights_of(rank["state"])
        for name in mean:
            np.testing.assert_allclose(weights[name], mean[name], atol=2e-6, err_msg=name)


def trained_apart(config: LearningConfig, rank: int, updates: int) -> dict[str, np.ndarray]:
    """Return the weights of a single learner that sees only the rows of one of two ranks."""
    learner = new_learner(Learner, replace(config, method="single"))
    learner.offsets = rows_of(rank, even_shares(config.batch_size, 2), parts=1)
    learner.learn(random_window(learner.game, 400), updates, progress=0.2)
    return weights_of(learner.state())


def weights_of(state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the weights and the statistics of batch norm."""
    return {n: a for n, a in state.items() if n.startswith("net.") and a.dtype == np.float32}


@every_method
def test_local_sgd_leaves_all_ranks_with_equal_weights(tmp_path: Path, synchronise: str) -> None:
    config = replace(LOCAL_SGD, sync_every=4, outer_momentum=0.5, synchronise=synchronise)
    found = learn_together(config, 2, 10, tmp_path)
    weights = [weights_of(rank["state"]) for rank in found]
    start = weights_of(new_learner(Learner, config).state())
    for name in weights[0]:
        np.testing.assert_array_equal(weights[0][name], weights[1][name], err_msg=name)
    assert any((weights[0][name] != start[name]).any() for name in start)


def test_local_sgd_of_one_rank_is_a_single_learner(tmp_path: Path) -> None:
    config = replace(LOCAL_SGD, sync_every=2)
    found = weights_of(learn_together(config, 1, 10, tmp_path)[0]["state"])
    expected = weights_of(learn_alone(replace(config, method="single"), 10).state())
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], atol=1e-5, err_msg=name)


@pytest.mark.parametrize(
    "config",
    [
        CONFIG,
        replace(CONFIG, synchronise="parameter_server"),
        replace(LOCAL_SGD, sync_every=2, outer_momentum=0.5),
    ],
    ids=["ddp", "server", "local_sgd"],
)
def test_ranks_leave_frozen_parts_alone(tmp_path: Path, config: LearningConfig) -> None:
    config = replace(config, freeze="stem, blocks.0")
    start = new_learner(Learner, config).state()
    found = learn_together(config, 2, 6, tmp_path)
    for state in (rank["state"] for rank in found):
        moved = {name for name in weights_of(start) if (state[name] != start[name]).any()}
        assert {name.split(".")[1] for name in moved} == {"policy", "value"}
    if config.method == "distributed":
        assert apart(learn_alone(config, 6).state(), found[0]["state"]) < 2e-3


@pytest.mark.slow
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


WIDE = NetConfig(width=96, depth=1)
"""Large enough for gradients to be almost all that is exchanged."""
WIRE_UPDATES = 8
Traffic = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def traffic(tmp_path_factory: pytest.TempPathFactory) -> Traffic:
    """Return what two ranks exchange, by method, synchronisation and compression."""

    @cache
    def measure(method: str, synchronise: str, compress: str = "none") -> list[dict[str, Any]]:
        config = replace(
            CONFIG, method=method, synchronise=synchronise, compress=compress, sync_every=1
        )
        folder = tmp_path_factory.mktemp("traffic")
        return learn_together(config, 2, WIRE_UPDATES, folder, net=WIDE)

    return measure


every_exchange = pytest.mark.parametrize(
    ("method", "synchronise"),
    [
        ("distributed", "all_reduce"),
        ("distributed", "gather_broadcast"),
        ("distributed", "parameter_server"),
        ("data_parallel", "all_reduce"),
        pytest.param("data_parallel", "gather_broadcast", marks=pytest.mark.slow),
        pytest.param("data_parallel", "parameter_server", marks=pytest.mark.slow),
    ],
)
FROM_ROOT = {"all_reduce": 0.2, "gather_broadcast": 0.4, "parameter_server": 1.0}
"""Share of the bytes that the root sends if every rank sends a fifth."""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's counters are read on Linux")
@every_exchange
@pytest.mark.parametrize("compress", ["none", "fp16", "topk"])
def test_bytes_are_those_that_the_kernel_counts(
    traffic: Traffic, method: str, synchronise: str, compress: str
) -> None:
    for rank in traffic(method, synchronise, compress):
        assert rank["wire"] == pytest.approx([rank["sent"], rank["received"]], rel=0.1)


@every_exchange
def test_half_precision_halves_the_bytes(traffic: Traffic, method: str, synchronise: str) -> None:
    root, other = ratios(traffic, method, synchronise, "fp16")
    from_root = 1.0 if synchronise == "parameter_server" else 0.5
    assert root == pytest.approx([from_root, 0.5], abs=0.02)
    assert other == pytest.approx([0.5, from_root], abs=0.02)


@every_exchange
def test_the_largest_tenth_of_the_elements_takes_a_fifth_of_the_bytes(
    traffic: Traffic, method: str, synchronise: str
) -> None:
    whole = WHOLE_UPDATES if (method, synchronise) == ("distributed", "all_reduce") else 0
    compressed = FROM_ROOT[synchronise], 0.2
    share = [(whole + x * (WIRE_UPDATES - whole)) / WIRE_UPDATES for x in compressed]
    root, other = ratios(traffic, method, synchronise, "topk")
    assert root == pytest.approx(share, abs=0.02)
    assert other == pytest.approx(share[::-1], abs=0.02)


def test_bfloat16_halves_the_bytes(traffic: Traffic) -> None:
    for rank in ratios(traffic, "distributed", "all_reduce", "bf16"):
        assert rank == pytest.approx([0.5, 0.5], abs=0.02)


def test_powersgd_takes_a_share_of_the_bytes(traffic: Traffic) -> None:
    for rank in traffic("distributed", "all_reduce", "powersgd"):
        assert rank["wire"] == pytest.approx([rank["sent"], rank["received"]], rel=0.1)
    for found in ratios(traffic, "distributed", "all_reduce", "powersgd"):
        assert found == pytest.approx([0.3, 0.3], abs=0.1)


def ratios(traffic: Traffic, method: str, synchronise: str, compress: str) -> list[list[float]]:
    """Return the bytes that each rank sends and receives, divided by those without compression."""
    found, whole = traffic(method, synchronise, compress), traffic(method, synchronise)
    return [
        [rank[way] / plain[way] for way in ("sent", "received")]
        for rank, plain in zip(found, whole, strict=True)
    ]
