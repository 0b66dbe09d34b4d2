"""Spiking networks: built, folded, evaluated and saved like residual ones; spike counts."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from rookery.base import ConfigError
from rookery.games import game_names, load_game
from rookery.nets import (
    CpuEvaluator,
    Ensemble,
    GameSpec,
    GpuEvaluator,
    NetConfig,
    WeightsHeader,
    build_net,
    count_parameters,
    count_spikes,
    pack,
    unpack,
)
from rookery.nets.build import PlanesShape
from rookery.nets.inference.backend import (
    MOST_TOLERANCE,
    TOLERANCE,
    random_boards,
    tolerated,
)
from rookery.nets.lif import LeakyFire
from rookery.nets.resnet import fold
from rookery.nets.spiking import SpikingNet

Shape = tuple[PlanesShape, int]
"""Planes and actions of a game."""
Boards = NDArray[np.float32]
Outputs = tuple[NDArray[np.float32], NDArray[np.float32]]

TICTACTOE = ((2, 3, 3), 9)
CONNECT4 = ((2, 6, 7), 7)
CHESS = ((20, 8, 8), 1858)
SHAPES = pytest.mark.parametrize("shape", [TICTACTOE, CONNECT4, CHESS])
SPIKING = NetConfig(kind="spiking", width=8, depth=2)
CPU = torch.device("cpu")
KINDS: tuple[Callable[..., CpuEvaluator | GpuEvaluator], ...] = (
    CpuEvaluator,
    partial(GpuEvaluator, device=CPU),
)


def trained_net(
    shape: Shape,
    config: NetConfig = SPIKING,
    seed: int = 1,
    policy_cells: NDArray[np.int64] | None = None,
) -> nn.Module:
    """Return a network with weights as after some training: no zeros, batch norm statistics."""
    net = build_net(config, *shape, seed=seed, policy_cells=policy_cells)
    stream = torch.Generator().manual_seed(seed)
    for name, tensor in net.state_dict().items():
        if "running_var" in name or "norm.weight" in name:
            tensor.uniform_(0.5, 1.5, generator=stream)
        elif "last" in name or "policy.conv" in name or "bias" in name or "running_mean" in name:
            tensor.normal_(0, 0.3, generator=stream)
    return net.eval()


def boards(shape: Shape, count: int) -> Boards:
    return (np.random.default_rng(7).random((count, *shape[0])) < 0.3).astype(np.float32)


@torch.no_grad()
def plain(net: nn.Module, planes: Boards) -> Outputs:
    logits, wdl = net(torch.from_numpy(planes))
    return logits.numpy(), wdl.softmax(1).numpy()


def assert_nearly_all_close(found: Outputs, expected: Outputs) -> None:
    """Compare rows; rounding may move a membrane across its threshold in a few of them."""
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        is_close = np.isclose(one, other, atol=1e-4, rtol=0).all(axis=1)
        assert is_close.mean() > 0.9


@SHAPES
def test_outputs_have_the_shapes_of_the_game_and_start_at_zero(shape: Shape) -> None:
    logits, wdl = build_net(SPIKING, *shape)(torch.rand(5, *shape[0]))
    assert logits.shape == (5, shape[1]) and wdl.shape == (5, 3)
    assert not logits.any() and not wdl.any()


@SHAPES
def test_parameters_and_their_names_equal_a_residual_networks(shape: Shape) -> None:
    spiking = build_net(SPIKING, *shape)
    residual = build_net(NetConfig(width=8, depth=2), *shape)
    assert count_parameters(spiking) == count_parameters(residual)
    assert spiking.state_dict().keys() == residual.state_dict().keys()


@pytest.mark.parametrize("name", game_names())
def test_it_can_be_built_saved_and_evaluated_for_every_game(name: str) -> None:
    rules = load_game(name)
    shape = (rules.planes_shape, rules.num_actions)
    net, planes = trained_net(shape, policy_cells=rules.policy_cells), boards(shape, 16)
    header = WeightsHeader(GameSpec(name, rules.version, *shape), SPIKING, step=0)
    expected = plain(unpack(pack(net.state_dict(), header)).build().eval(), planes)
    assert expected[0].any()
    for kind in KINDS:
        evaluator = kind(net, rules.planes_shape, backend="float32")
        assert_nearly_all_close(evaluator(planes), expected)


@pytest.mark.parametrize("surrogate", ["arctan", "fast_sigmoid"])
def test_every_parameter_has_a_gradient(surrogate: str) -> None:
    net = trained_net(CONNECT4, NetConfig("spiking", width=8, depth=4, surrogate=surrogate)).train()
    logits, wdl = net(torch.from_numpy(boards(CONNECT4, 16)))
    (logits[:, 0].square().sum() + wdl[:, 0].square().sum()).backward()
    without = [n for n, p in net.named_parameters() if p.grad is None or not p.grad.any()]
    assert without == []


def test_gradients_do_not_vanish_with_depth() -> None:
    depth = 12
    net = trained_net(CONNECT4, NetConfig("spiking", width=8, depth=depth)).train()
    logits, _ = net(torch.from_numpy(boards(CONNECT4, 16)))
    logits.square().sum().backward()
    gradients = [net.get_parameter(f"blocks.{i}.first.conv.weight").grad for i in range(depth)]
    sizes = [gradient.norm().item() for gradient in gradients if gradient is not None]
    assert len(sizes) == depth
    assert min(sizes) > max(sizes) / 100


def test_batch_norm_sees_the_rows_of_all_steps() -> None:
    net, planes = build_net(SPIKING, *CONNECT4).train(), torch.from_numpy(boards(CONNECT4, 6))
    seen = list[int]()
    norm = net.get_submodule("blocks.0.first.norm")
    norm.register_forward_hook(lambda norm, args, y: seen.append(len(args[0])))
    net(planes)
    assert seen == [6 * SPIKING.steps]


def test_without_spikes_the_number_of_steps_makes_no_difference() -> None:
    few, many = (
        trained_net(CONNECT4, NetConfig("spiking", 8, 2, steps=steps, threshold=1e6))
        for steps in (1, 5)
    )
    planes = boards(CONNECT4, 4)
    for one, other in zip(plain(few, planes), plain(many, planes), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


@torch.no_grad()
def test_a_folded_tower_equals_the_unfolded_one() -> None:
    net = trained_net(CONNECT4).double()
    folded = fold(net)
    assert isinstance(net, SpikingNet) and isinstance(folded, SpikingNet)
    planes = torch.from_numpy(boards(CONNECT4, 16)).double()
    torch.testing.assert_close(folded.tower(planes), net.tower(planes), atol=1e-10, rtol=0)
    assert not [m for m in folded.modules() if isinstance(m, nn.BatchNorm2d)]


@SHAPES
@pytest.mark.parametrize("count", [0, 1, 37])
def test_the_cpu_evaluator_equals_the_network(shape: Shape, count: int) -> None:
    net, planes = trained_net(shape), boards(shape, count)
    evaluator = CpuEvaluator(trained_net(shape, seed=2), shape[0], backend="float32", batch_size=16)
    evaluator.load(net)
    if count:
        assert_nearly_all_close(evaluator(planes), plain(net, planes))
    else:
        assert [len(array) for array in evaluator(planes)] == [0, 0]


def test_the_gpu_evaluator_equals_the_network_after_new_weights() -> None:
    net, planes = trained_net(CONNECT4), boards(CONNECT4, 37)
    evaluator = GpuEvaluator(
        trained_net(CONNECT4, seed=2), CONNECT4[0], device=CPU, backend="float32"
    )
    evaluator.load(net)
    assert_nearly_all_close(evaluator(planes), plain(net, planes))


def test_only_the_gpu_has_fused_calls_and_in_float16_alone() -> None:
    net = trained_net(CONNECT4)
    assert not is_fused_tried(CpuEvaluator(net, CONNECT4[0]))
    on_gpu = GpuEvaluator(net, CONNECT4[0], device=CPU)
    assert is_fused_tried(on_gpu) and set(on_gpu.choice.dropped) == {"fused-float16"}
    assert on_gpu.backend == "float16", "without a GPU, kernels cannot run"


def is_fused_tried(evaluator: CpuEvaluator | GpuEvaluator) -> bool:
    choice = evaluator.choice
    return any(name.startswith("fused") for name in (choice.backend, *choice.dropped))


def test_a_spiking_and_a_residual_network_form_an_ensemble() -> None:
    members = [trained_net(CONNECT4), trained_net(CONNECT4, NetConfig(width=16, depth=1))]
    planes, net = boards(CONNECT4, 20), Ensemble(members).eval()
    expected = plain(net, planes)
    assert_nearly_all_close(CpuEvaluator(net, CONNECT4[0], backend="float32")(planes), expected)
    on_gpu = GpuEvaluator(net, CONNECT4[0], device=CPU, backend="float32")
    assert_nearly_all_close(on_gpu(planes), expected)


def test_saved_weights_keep_the_settings_of_the_neurons() -> None:
    config = NetConfig("spiking", width=8, depth=1, steps=3, decay=0.25, threshold=0.5)
    net = trained_net(CONNECT4, config)
    header = WeightsHeader(GameSpec("connect4", 1, *CONNECT4), config, step=5)
    found = unpack(pack(net.state_dict(), header))
    assert found.header == header
    planes = boards(CONNECT4, 3)
    for one, other in zip(plain(found.build().eval(), planes), plain(net, planes), strict=True):
        np.testing.assert_array_equal(one, other)


def test_settings_saved_before_spiking_networks_existed_are_read() -> None:
    old = '{"kind": "resnet", "width": 128, "depth": 10, "policy_channels": 8, "value_width": 64}'
    config = NetConfig(**json.loads(old))
    assert config == NetConfig("resnet", 128, 10, policy_channels=8, value_width=64)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("steps", 0), ("decay", 1.5), ("threshold", 0.0), ("threshold", float("nan"))],
)
def test_invalid_neurons_are_refused_with_their_setting(setting: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"net\.{setting} is {value}, expected a .*number from"):
        NetConfig("spiking", **{setting: value})


def test_an_unknown_surrogate_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="did you mean arctan"):
        NetConfig("spiking", surrogate="arktan")


def test_spikes_are_counted_over_neurons_and_steps() -> None:
    net, planes = trained_net(CONNECT4), torch.from_numpy(boards(CONNECT4, 10))
    layers, total = [m for m in net.modules() if isinstance(m, LeakyFire)], [0.0]
    for layer in layers:
        layer.register_forward_hook(lambda layer, args, y: total.append(y.sum().item()))
    net(planes)
    found = count_spikes(trained_net(CONNECT4), planes)
    assert found is not None
    assert found.mean == pytest.approx(sum(total) / 10, rel=0.01)
    assert found.maximum == 4 * (8 * 6 * 7) * SPIKING.steps and len(layers) == 4
    assert found.rate == found.mean / found.maximum and 0.02 < found.rate < 0.9


def test_only_neurons_are_counted() -> None:
    residual = trained_net(CONNECT4, NetConfig(width=8, depth=1))
    planes = torch.from_numpy(boards(CONNECT4, 10))
    assert count_spikes(residual, planes) is None
    alone = count_spikes(trained_net(CONNECT4), planes)
    assert count_spikes(Ensemble([residual, trained_net(CONNECT4)]), planes) == alone


@pytest.mark.parametrize("kind", ["resnet", "spiking"])
def test_more_is_tolerated_of_a_network_that_rounding_changes_more(kind: str) -> None:
    shape = (2, 6, 7)
    net = build_net(NetConfig(kind, width=16, depth=2), shape, 7, seed=1)
    stream = torch.Generator().manual_seed(1)
    for head in ("policy.last.weight", "value.last.weight"):
        torch.nn.init.normal_(net.get_parameter(head), generator=stream)
    boards = torch.from_numpy(random_boards(256, shape))
    with torch.no_grad():
        for _ in range(30):
            net(boards)
        net.eval()
        limit = tolerated(net, boards, net(boards))
    assert limit == TOLERANCE if kind == "resnet" else TOLERANCE < limit <= MOST_TOLERANCE
