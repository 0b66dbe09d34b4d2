"""ONNX files, run by onnxruntime and compared with the evaluator."""

import json
import sys
from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rookery.arena import sample_boards
from rookery.base import ConfigError
from rookery.games import Game, load_game
from rookery.nets import (
    CpuEvaluator,
    NetConfig,
    Weights,
    WeightsHeader,
    build_net,
    pack,
    pack_onnx,
    unpack,
)
from rookery.nets.lif import LeakyFire
from rookery.nets.resnet import fold
from rookery.nets.spiking import SpikingNet
from rookery.training import game_spec

RESIDUAL = NetConfig(width=8, depth=1)
SPIKING = NetConfig("spiking", width=8, depth=1, steps=3, decay=0.4, threshold=0.2)
BATCHES = (1, 7, 64)
ROUNDING = 1e-4
"""Different summation orders in float32 differ by about 1e-6 in these small networks."""
MARGIN = 1e-5
"""Rounding does not move a membrane across its threshold from farther away than this."""


@dataclass(frozen=True)
class Exported:
    """A game, the weights of a network for it, and its ONNX file."""

    rules: Game
    weights: Weights
    payload: bytes


@torch.no_grad()
def trained_net(rules: Game, config: NetConfig) -> nn.Module:
    """Return a network as after some training: no zero layers, batch norm statistics of boards."""
    net = build_net(config, rules.planes_shape, rules.num_actions, policy_cells=rules.policy_cells)
    stream = torch.Generator().manual_seed(3)
    for parameter in net.parameters():
        parameter.add_(torch.randn(parameter.shape, generator=stream), alpha=0.2)
    net.train()(torch.from_numpy(sample_boards(rules, 64)))
    return net


@pytest.fixture(
    scope="module",
    params=[
        ("tictactoe", SPIKING),
        ("connect4", RESIDUAL),
        ("chess", RESIDUAL),
        ("chess", SPIKING),
    ],
    ids=lambda pair: f"{pair[0]}-{pair[1].kind}",
)
def exported(request: pytest.FixtureRequest) -> Exported:
    """Return an exported network of each game and kind."""
    name, config = request.param
    rules = load_game(name)
    header = WeightsHeader(game_spec(rules), config, step=41)
    weights = unpack(pack(trained_net(rules, config).state_dict(), header))
    return Exported(rules, weights, pack_onnx(weights))


@torch.no_grad()
def clear_boards(net: nn.Module, planes: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return which boards [B] keep every membrane away from its threshold, in float64.

    On these boards rounding changes no spike, so all implementations must agree; on others a
    changed spike may change the outputs by more.
    """
    folded, is_clear = fold(net).double(), np.ones(len(planes), bool)

    def record(layer: LeakyFire, args: tuple[Tensor], spikes: Tensor) -> None:
        for membrane in layer.run(args[0])[0]:
            nearest = (membrane - layer.threshold).abs().flatten(1).amin(1)
            is_clear[:] &= (nearest > MARGIN).numpy()

    for layer in folded.modules():
        if isinstance(layer, LeakyFire):
            layer.register_forward_hook(record)
    if isinstance(folded, SpikingNet):
        folded.tower(torch.from_numpy(planes).double())
    return is_clear


def test_outputs_equal_the_evaluators_for_any_batch_size(exported: Exported) -> None:
    net, rules = exported.weights.build(), exported.rules
    session = onnxruntime.InferenceSession(exported.payload, providers=["CPUExecutionProvider"])
    evaluator = CpuEvaluator(net, rules.planes_shape, backend="float32")
    boards = sample_boards(rules, max(BATCHES))
    is_clear = clear_boards(net, boards)
    assert is_clear.mean() > 0.9
    for count in BATCHES:
        found = session.run(["policy", "wdl"], {"planes": boards[:count]})
        for mine, theirs in zip(found, evaluator(boards[:count]), strict=True):
            assert mine.shape == theirs.shape and mine.dtype == np.float32 and mine.std() > 0.01
            rows = is_clear[:count]
            np.testing.assert_allclose(mine[rows], theirs[rows], atol=ROUNDING, rtol=0)


def test_inputs_and_outputs_have_the_documented_shapes(exported: Exported) -> None:
    model = onnx.load_from_string(exported.payload)
    onnx.checker.check_model(model, full_check=True)
    game = exported.weights.header.game
    shapes = {
        value.name: [size.dim_param or size.dim_value for size in value.type.tensor_type.shape.dim]
        for value in (*model.graph.input, *model.graph.output)
    }
    assert shapes == {
        "planes": ["N", *game.planes_shape],
        "policy": ["N", game.num_actions],
        "wdl": ["N", 3],
    }
    assert "BatchNormalization" not in {node.op_type for node in model.graph.node}


def test_metadata_name_the_network_and_no_source_path(exported: Exported) -> None:
    model, header = onnx.load_from_string(exported.payload), exported.weights.header
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    assert metadata["game"] == header.game.name and metadata["game_version"] == str(
        header.game.version
    )
    assert tuple(json.loads(metadata["planes_shape"])) == header.game.planes_shape
    assert metadata["num_actions"] == str(header.game.num_actions) and metadata["step"] == "41"
    assert metadata["fingerprint"] == exported.weights.fingerprint
    assert metadata["net"] == str(header.config)
    assert b".py" not in exported.payload


@pytest.mark.parametrize("missing", ["onnx", "onnxscript"])
def test_without_the_extra_the_error_names_the_install_command(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = load_game("tictactoe")
    header = WeightsHeader(game_spec(rules), RESIDUAL, step=0)
    weights = unpack(pack(trained_net(rules, RESIDUAL).state_dict(), header))
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigError, match=r"pip install 'rookery\[export\]'"):
        pack_onnx(weights)
