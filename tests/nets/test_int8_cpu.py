"""Towers in 8 bits on the CPU, compared with float32 and with the arithmetic of integers."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch.nn import functional

import rookery as rk
from fake_time import FakeTime
from rookery.base import ConfigError
from rookery.games import load_game
from rookery.nets import CpuEvaluator, NetConfig, build_net
from rookery.nets.inference import cpu
from rookery.nets.inference.backend import TorchBackend, random_boards
from rookery.nets.inference.int8_cpu import (
    MEASURED_ROWS,
    Convolution,
    Int8CpuBackend,
    is_int8_supported,
    to_levels,
)
from rookery.nets.inference.quantize import LEVELS, quantize
from rookery.nets.resnet import TowerConv

Floats = NDArray[np.float32]
pytestmark = pytest.mark.skipif(not is_int8_supported(), reason="needs an x86 processor")


def test_levels_are_rounded_to_the_nearest_and_saturate() -> None:
    x = torch.tensor([0.0, 0.24, 0.26, 1.0, 63.4, 1e9]).reshape(1, 6, 1, 1)
    found = to_levels(x, torch.full((6,), 2.0))
    assert found.flatten().tolist() == [0, 0, 1, 2, LEVELS, LEVELS]


@pytest.mark.parametrize("width", [1, 16, 24, 64])
def test_a_convolution_is_that_of_integers(width: int) -> None:
    stream = torch.Generator().manual_seed(width)
    conv = TowerConv(width, width, 3, padding=1).requires_grad_(False)
    level_in = 0.01 + torch.rand(width, generator=stream)
    level_out = 0.01 + torch.rand(width, generator=stream)
    x = torch.randint(0, LEVELS + 1, (3, width, 6, 7), generator=stream, dtype=torch.uint8)
    x = x.contiguous(memory_format=torch.channels_last)
    assert conv.bias is not None
    weight, scale = quantize(conv.weight * level_in[None, :, None, None])
    sums = functional.conv2d(x.double(), weight.double(), padding=1)
    exact = functional.relu(sums * scale[:, None, None] + conv.bias[:, None, None])
    own = Convolution(conv, level_in, level_out, (6, 7))
    levels = exact / level_out[:, None, None]
    assert (own(x) - levels.clamp(max=255)).abs().max() <= 0.501
    skip = torch.rand(3, width, 6, 7, generator=stream).contiguous(
        memory_format=torch.channels_last
    )
    expected = functional.relu(sums * scale[:, None, None] + conv.bias[:, None, None] + skip)
    plain = Convolution(conv, level_in, torch.ones(width), (6, 7))
    torch.testing.assert_close(plain.added_to(skip.clone(), x), expected.float())


def test_the_first_rows_are_exact_and_the_rest_are_close() -> None:
    game, weights = rk.load_game("connect4"), rk.load_net("connect4").ref.load()
    net = weights.build()
    fast = CpuEvaluator(net, game.planes_shape, backend="int8")
    plain = CpuEvaluator(net, game.planes_shape, backend="float32")
    planes = game.planes(game.random_states(MEASURED_ROWS, seed=1))
    for found, expected in zip(fast(planes), plain(planes), strict=True):
        np.testing.assert_array_equal(found, expected)
    others = game.planes(game.random_states(64, seed=2))
    (logits, wdl), (exact_logits, exact_wdl) = fast(others), plain(others)
    assert (logits != exact_logits).any()
    assert np.abs(wdl - exact_wdl).mean() < 0.01
    assert np.abs(softmax(logits) - softmax(exact_logits)).sum(1).mean() < 0.02


def softmax(logits: Floats) -> Floats:
    return torch.from_numpy(logits).softmax(1).numpy()


def test_new_weights_are_measured_again() -> None:
    shape = (3, 6, 7)
    config = NetConfig(width=16, depth=1)
    nets = [build_net(config, shape, 7, seed=seed) for seed in (1, 2)]
    for net in nets:
        for parameter in net.parameters():
            parameter.data.add_(0.01 * torch.randn(parameter.shape))
    boards = random_boards(MEASURED_ROWS, shape)
    evaluator = CpuEvaluator(nets[0], shape, backend="int8")
    evaluator(boards)
    evaluator.load(nets[1])
    fresh = CpuEvaluator(nets[1], shape, backend="int8")
    for _ in range(2):  # measured, then in 8 bits
        for found, expected in zip(evaluator(boards), fresh(boards), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_threads_may_share_it() -> None:
    game = rk.load_game("connect4")
    evaluator = CpuEvaluator(
        rk.load_net("connect4").ref.load().build(), game.planes_shape, backend="int8"
    )
    planes = game.planes(game.random_states(48, seed=3))
    found: list[Floats] = []

    def work() -> None:
        for _ in range(8):
            logits, _ = evaluator(planes)
        found.append(logits)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for each in found[1:]:
        np.testing.assert_array_equal(each, found[0])


def test_other_networks_and_processors_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    spiking = build_net(NetConfig(kind="spiking", width=16, depth=1), (3, 6, 7), 7, seed=1)
    with pytest.raises(ConfigError, match="int8 needs a residual network"):
        CpuEvaluator(spiking, (3, 6, 7), backend="int8")
    net = build_net(NetConfig(width=16, depth=1), (3, 6, 7), 7, seed=1)
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(ConfigError, match="int8 needs an x86 processor"):
        CpuEvaluator(net, (3, 6, 7), backend="int8")


@pytest.mark.parametrize(("seconds", "chosen"), [(0.5, "int8"), (2.0, "float32")])
def test_fastest_takes_8_bits_where_they_are_faster(
    monkeypatch: pytest.MonkeyPatch, seconds: float, chosen: str
) -> None:
    clock, call, exact = FakeTime(tick=0.001), Int8CpuBackend.__call__, TorchBackend.__call__

    def rounded(self: Int8CpuBackend, planes: torch.Tensor) -> Any:
        clock.sleep(seconds)
        return call(self, planes)

    def plain(self: TorchBackend, planes: torch.Tensor) -> Any:
        clock.sleep(1.0 if self._dtype == torch.float32 else 1.5)
        return exact(self, planes)

    monkeypatch.setattr(cpu, "time", clock)
    monkeypatch.setattr(cpu, "missing_for", lambda backend: backend * (backend == "openvino"))
    monkeypatch.setattr(Int8CpuBackend, "__call__", rounded)
    monkeypatch.setattr(TorchBackend, "__call__", plain)
    net = build_net(NetConfig(width=16, depth=1), (3, 6, 7), 7, seed=1)
    evaluator = CpuEvaluator(net, (3, 6, 7), backend="fastest", batch_size=8)
    assert evaluator.backend == chosen and "int8" in evaluator.choice.rates
    assert "int8" not in CpuEvaluator(net, (3, 6, 7), backend="auto", batch_size=8).choice.rates


def test_fastest_suits_every_network_and_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    spiking = build_net(NetConfig(kind="spiking", width=16, depth=1), (3, 6, 7), 7, seed=1)
    choice = CpuEvaluator(spiking, (3, 6, 7), backend="fastest", batch_size=8).choice
    assert "int8 needs a residual network" in choice.dropped["int8"]
    net = build_net(NetConfig(width=16, depth=1), (3, 6, 7), 7, seed=1)
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    choice = CpuEvaluator(net, (3, 6, 7), backend="fastest", batch_size=8).choice
    assert "int8" not in choice.rates.keys() | choice.dropped.keys()


def test_the_first_calls_are_no_part_of_the_measured_speed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, call, calls = FakeTime(tick=0.001), Int8CpuBackend.__call__, list[int]()

    def slow_at_first(self: Int8CpuBackend, planes: torch.Tensor) -> Any:
        calls.append(len(planes))
        clock.sleep(1.0 if len(calls) <= 2 else 0.0)  # ranges are measured, then code is compiled
        return call(self, planes)

    monkeypatch.setattr(cpu, "time", clock)
    monkeypatch.setattr(Int8CpuBackend, "__call__", slow_at_first)
    game = load_game("tictactoe")
    net = build_net(NetConfig(width=32, depth=1), game.planes_shape, game.num_actions)
    rates = CpuEvaluator(net, game.planes_shape, backend="fastest", batch_size=8).choice.rates
    assert rates["int8"] == pytest.approx(rates["float32"])


def test_small_batches_are_measured_in_8_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in float32, as the rows are in which ranges are measured."""

    def once(call: Callable[[], object]) -> float:
        before = len(exact_rows)
        call()
        in_float32.append(len(exact_rows) > before)
        return 1.0

    def noting(self: Int8CpuBackend, planes: torch.Tensor) -> Any:
        exact_rows.append(len(planes))
        return exact(self, planes)

    exact, exact_rows, in_float32 = Int8CpuBackend.exact, list[int](), list[bool]()
    monkeypatch.setattr(cpu, "best_seconds", once)
    monkeypatch.setattr(Int8CpuBackend, "exact", noting)
    net = build_net(NetConfig(width=16, depth=1), (3, 6, 7), 7, seed=1)
    choice = CpuEvaluator(net, (3, 6, 7), backend="fastest", batch_size=2).choice
    assert "int8" in choice.rates and sum(exact_rows) == MEASURED_ROWS
    assert not any(in_float32)
