"""ONNX files of nets, run by onnxruntime beside the Evaluator."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from rookery.arena import sample_boards
from rookery.base import ConfigError
from rookery.games import load_game
from rookery.nets import CpuEvaluator, NetConfig, WeightsHeader, build_net, pack, pack_onnx, unpack
from rookery.nets.lif import LeakyFire
from rookery.nets.resnet import fold
from rookery.nets.spiking import SpikingNet
from rookery.training import game_spec

RESIDUAL = NetConfig(width=8, depth=1)
SPIKING = NetConfig("spiking", width=8, depth=1, steps=3, decay=0.4, threshold=0.2)
BATCHES = (1, 7, 64)
ROUNDING = 1e-4
"""Two ways to sum up float32 differ by some 1e-6 in these small nets."""
MARGIN = 1e-5
"""A membrane farther than this from its threshold is not tipped over it by rounding."""


@torch.no_grad()
def learned_net(rules, config):
    """A net as after some learning: no zero layers, batch norm that has seen boards."""
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
def exported(request):
    """A game, the weights of a net for it, and its ONNX file."""
    name, config = request.param
    rules = load_game(name)
    header = WeightsHeader(game_spec(rules), config, step=41)
    weights = unpack(pack(learned_net(rules, config).state_dict(), header))
    return SimpleNamespace(rules=rules, weights=weights, payload=pack_onnx(weights))


@torch.no_grad()
def clear_boards(net, planes):
    """Boards [B] on which no neuron comes so near its threshold that rounding could tip it.

    Found in float64. As long as none is tipped, membranes of float32 are off by rounding only, so
    on these boards every way to compute the net must agree; on others it need not.
    """
    folded, is_clear = fold(net).double(), np.ones(len(planes), bool)

    def look(layer, args, spikes):
        for membrane in layer.run(args[0])[0]:
            nearest = (membrane - layer.threshold).abs().flatten(1).amin(1)
            is_clear[:] &= (nearest > MARGIN).numpy()

    for layer in folded.modules():
        if isinstance(layer, LeakyFire):
            layer.register_forward_hook(look)
    if isinstance(folded, SpikingNet):
        folded.tower(torch.from_numpy(planes).double())
    return is_clear


def test_it_answers_as_the_evaluator_does_in_batches_of_any_size(exported):
    net, rules = exported.weights.build(), exported.rules
    session = onnxruntime.InferenceSession(exported.payload, providers=["CPUExecutionProvider"])
    evaluator = CpuEvaluator(net, rules.planes_shape, method="float32")
    boards = sample_boards(rules, max(BATCHES))
    is_clear = clear_boards(net, boards)
    assert is_clear.mean() > 0.9
    for count in BATCHES:
        found = session.run(["policy", "wdl"], {"planes": boards[:count]})
        for mine, theirs in zip(found, evaluator(boards[:count]), strict=True):
            assert mine.shape == theirs.shape and mine.dtype == np.float32 and mine.std() > 0.01
            rows = is_clear[:count]
            np.testing.assert_allclose(mine[rows], theirs[rows], atol=ROUNDING, rtol=0)


def test_inputs_and_outputs_are_as_documented(exported):
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


def test_it_tells_which_net_it_is_and_nothing_of_where_it_was_made(exported):
    model, header = onnx.load_from_string(exported.payload), exported.weights.header
    told = {entry.key: entry.value for entry in model.metadata_props}
    assert told["game"] == header.game.name and told["game_version"] == str(header.game.version)
    assert tuple(json.loads(told["planes_shape"])) == header.game.planes_shape
    assert told["num_actions"] == str(header.game.num_actions) and told["step"] == "41"
    assert told["fingerprint"] == exported.weights.fingerprint
    assert told["net"] == str(header.config)
    assert b".py" not in exported.payload


@pytest.mark.parametrize("lost", ["onnx", "onnxscript"])
def test_without_the_extra_one_line_says_what_to_install(lost, monkeypatch):
    rules = load_game("tictactoe")
    header = WeightsHeader(game_spec(rules), RESIDUAL, step=0)
    weights = unpack(pack(learned_net(rules, RESIDUAL).state_dict(), header))
    monkeypatch.setitem(sys.modules, lost, None)
    with pytest.raises(ConfigError, match=r"pip install 'rookery\[export\]'"):
        pack_onnx(weights)
