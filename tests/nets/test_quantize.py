"""Eight bits: what rounding a trained net's tower does to its answers."""

import sys

import pytest
import torch
from torch import Tensor

from rookery.arena import sample_boards
from rookery.base import ConfigError
from rookery.games import load_game
from rookery.nets import Ensemble, GpuEvaluator, NetConfig, build_net, check_backend
from rookery.nets.inference.int8 import _front_end
from rookery.nets.inference.quantize import LEVELS, Layer, ranges, round_tower
from rookery.nets.resnet import ResNet, fold
from rookery.training import load_shipped
from rounded import run_layers

pytestmark = pytest.mark.usefixtures("no_gradients")
CPU = torch.device("cpu")


@pytest.fixture
def no_gradients():
    with torch.inference_mode():
        yield


def shipped(name: str) -> tuple[ResNet, Tensor, Tensor]:
    """A trained net, boards to measure ranges on, and others."""
    rules = load_game(name)
    folded = fold(load_shipped(rules).build())
    assert isinstance(folded, ResNet)
    boards = torch.from_numpy(sample_boards(rules, 256))
    return folded, boards[::2], boards[1::2]


def answers(folded: ResNet, x: Tensor) -> tuple[Tensor, Tensor]:
    policy, wdl = folded.policy(x.float()).softmax(1), folded.value(x.float()).softmax(1)
    return policy, wdl[:, 0] - wdl[:, 2]


def moved(folded: ResNet, layers: list[Layer], boards: Tensor) -> tuple[float, float]:
    """How much of the policy's mass and of the value rounding moves, on average."""
    policy, value = answers(folded, folded.tower(boards))
    found, estimate = answers(folded, run_layers(layers, boards))
    mass = (found - policy).abs().sum(1).mean() / 2
    return float(mass), float((estimate - value).abs().mean())


@pytest.mark.parametrize("name", ["chess", "connect4"])
def test_a_trained_net_plays_on_much_the_same(name: str) -> None:
    folded, seen, others = shipped(name)
    mass, value = moved(folded, round_tower(folded, ranges(folded, seen)), others)
    assert 0 < mass < 0.06
    assert 0 < value < 0.02


def test_weights_fill_eight_bits() -> None:
    folded, seen, _ = shipped("chess")
    for layer in round_tower(folded, ranges(folded, seen))[1:]:
        assert layer.weight.dtype == torch.int8
        assert (layer.weight.abs().amax((1, 2, 3)) == LEVELS).all()


def test_ranges_of_other_boards_spoil_the_answers() -> None:
    folded, seen, others = shipped("chess")
    fitted = moved(folded, round_tower(folded, ranges(folded, seen)), others)
    narrow = [most / 4 for most in ranges(folded, seen)]
    assert moved(folded, round_tower(folded, narrow), others)[0] > 3 * fitted[0]


def test_a_net_without_activity_has_finite_scales() -> None:
    net = build_net(NetConfig(width=16, depth=1), (2, 6, 7), 7)
    folded = fold(net)
    for parameter in folded.parameters():
        parameter.zero_()
    boards = torch.zeros((4, 2, 6, 7))
    layers = round_tower(folded, ranges(folded, boards))
    assert run_layers(layers, boards).isfinite().all()
    assert all(part.isfinite().all() for layer in layers for part in layer)


def test_a_width_that_eight_bits_cannot_have_is_refused() -> None:
    net = build_net(NetConfig(width=24, depth=1), (2, 6, 7), 7)
    with pytest.raises(ConfigError, match=r"net\.width in steps of 16, got 24"):
        GpuEvaluator(net, (2, 6, 7), device=CPU, method="int8")


def test_a_spiking_net_is_refused() -> None:
    net = build_net(NetConfig(kind="spiking", width=16, depth=1), (2, 6, 7), 7)
    with pytest.raises(ConfigError, match="int8 is for a residual net"):
        GpuEvaluator(net, (2, 6, 7), device=CPU, method="int8")


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (NetConfig(kind="spiking", width=16), "int8 is for a residual net"),
        (NetConfig(width=24), "steps of 16, got 24"),
        (NetConfig(width=32), r"pip install 'rookery\[int8\]'"),
    ],
)
def test_what_cannot_be_is_refused_before_a_run_begins(
    config: NetConfig, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cudnn", None)
    _front_end.cache_clear()
    with pytest.raises(ConfigError, match=reason):
        check_backend("int8", config)
    check_backend("auto", config)


def test_an_ensemble_is_refused() -> None:
    nets = [build_net(NetConfig(width=16, depth=1), (2, 6, 7), 7, seed=seed) for seed in (1, 2)]
    with pytest.raises(ConfigError, match="int8 is for a residual net"):
        GpuEvaluator(Ensemble(nets), (2, 6, 7), device=CPU, method="int8")
