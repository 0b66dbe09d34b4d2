"""Quantization to 8 bits: how much it changes the outputs of a trained network."""

import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from rookery.arena import sample_boards
from rookery.base import ConfigError
from rookery.games import load_game
from rookery.nets import (
    Ensemble,
    GpuEvaluator,
    NetConfig,
    build_net,
    check_backend,
    fastest_backend,
)
from rookery.nets.inference import int8
from rookery.nets.inference.int8 import _front_end
from rookery.nets.inference.quantize import LEVELS, QuantizedConv, channel_ranges, quantize_tower
from rookery.nets.resnet import ResNet, fold
from rookery.training import load_shipped
from rounded import run_layers

pytestmark = pytest.mark.usefixtures("no_gradients")
CPU = torch.device("cpu")


@pytest.fixture
def no_gradients() -> Iterator[None]:
    with torch.inference_mode():
        yield


def shipped(name: str) -> tuple[ResNet, Tensor, Tensor]:
    """Return a trained network, boards for measuring ranges, and other boards."""
    rules = load_game(name)
    folded = fold(load_shipped(rules).build())
    assert isinstance(folded, ResNet)
    boards = torch.from_numpy(sample_boards(rules, 256))
    return folded, boards[::2], boards[1::2]


def policy_and_value(folded: ResNet, x: Tensor) -> tuple[Tensor, Tensor]:
    policy, wdl = folded.policy(x.float()).softmax(1), folded.value(x.float()).softmax(1)
    return policy, wdl[:, 0] - wdl[:, 2]


def change(folded: ResNet, layers: list[QuantizedConv], boards: Tensor) -> tuple[float, float]:
    """Return the mean change in policy mass and in value by quantization."""
    policy, value = policy_and_value(folded, folded.tower(boards))
    found, estimate = policy_and_value(folded, run_layers(layers, boards))
    mass = (found - policy).abs().sum(1).mean() / 2
    return float(mass), float((estimate - value).abs().mean())


@pytest.mark.parametrize("name", ["chess", "connect4"])
def test_a_trained_network_changes_little(name: str) -> None:
    folded, seen, others = shipped(name)
    mass, value = change(folded, quantize_tower(folded, channel_ranges(folded, seen)), others)
    assert 0 < mass < 0.06
    assert 0 < value < 0.02


def test_weights_use_all_levels() -> None:
    folded, seen, _ = shipped("chess")
    for layer in quantize_tower(folded, channel_ranges(folded, seen))[1:]:
        assert layer.weight.dtype == torch.int8
        assert (layer.weight.abs().amax((1, 2, 3)) == LEVELS).all()


def test_ranges_that_do_not_fit_change_the_outputs() -> None:
    folded, seen, others = shipped("chess")
    fitted = change(folded, quantize_tower(folded, channel_ranges(folded, seen)), others)
    narrow = [most / 4 for most in channel_ranges(folded, seen)]
    assert change(folded, quantize_tower(folded, narrow), others)[0] > 3 * fitted[0]


def test_a_network_without_activity_has_finite_scales() -> None:
    net = build_net(NetConfig(width=16, depth=1), (2, 6, 7), 7)
    folded = fold(net)
    assert isinstance(folded, ResNet)
    for parameter in folded.parameters():
        parameter.zero_()
    boards = torch.zeros((4, 2, 6, 7))
    layers = quantize_tower(folded, channel_ranges(folded, boards))
    assert run_layers(layers, boards).isfinite().all()
    assert all(part.isfinite().all() for layer in layers for part in layer)


def test_a_width_that_is_no_multiple_of_16_is_refused() -> None:
    net = build_net(NetConfig(width=24, depth=1), (2, 6, 7), 7)
    with pytest.raises(ConfigError, match=r"net\.width that is a multiple of 16, got 24"):
        GpuEvaluator(net, (2, 6, 7), device=CPU, backend="int8")


def test_a_spiking_network_is_refused() -> None:
    net = build_net(NetConfig(kind="spiking", width=16, depth=1), (2, 6, 7), 7)
    with pytest.raises(ConfigError, match="int8 needs a residual network"):
        GpuEvaluator(net, (2, 6, 7), device=CPU, backend="int8")


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (NetConfig(kind="spiking", width=16), "int8 needs a residual network"),
        (NetConfig(width=24), "a multiple of 16, got 24"),
        (NetConfig(width=32), r"pip install 'rookery\[int8\]'"),
    ],
)
def test_an_unsupported_network_is_refused_before_a_run_starts(
    config: NetConfig, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cudnn", None)
    _front_end.cache_clear()
    with pytest.raises(ConfigError, match=reason):
        check_backend("int8", config, torch.device("cuda:0"))
    check_backend("auto", config, torch.device("cuda:0"))


@pytest.mark.parametrize(
    ("config", "capability", "expected"),
    [
        (NetConfig(width=128), (9, 0), "int8"),
        (NetConfig(width=128), (8, 0), "auto"),
        (NetConfig(width=64), (9, 0), "auto"),
        (NetConfig(kind="spiking", width=128), (9, 0), "auto"),
        (NetConfig(width=136), (9, 0), "auto"),
    ],
)
def test_the_fastest_backend_has_8_bits_where_they_are_known_to_be_faster(
    config: NetConfig,
    capability: tuple[int, int],
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gpu = torch.device("cuda:0")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    monkeypatch.setattr(int8, "_front_end", SimpleNamespace)
    assert fastest_backend(config, gpu) == expected
    monkeypatch.setattr(int8, "_front_end", _front_end)
    monkeypatch.setitem(sys.modules, "cudnn", None)
    _front_end.cache_clear()
    assert fastest_backend(config, gpu) == "auto"


def test_an_ensemble_is_refused() -> None:
    nets = [build_net(NetConfig(width=16, depth=1), (2, 6, 7), 7, seed=seed) for seed in (1, 2)]
    with pytest.raises(ConfigError, match="int8 needs a residual network"):
        GpuEvaluator(Ensemble(nets), (2, 6, 7), device=CPU, backend="int8")
