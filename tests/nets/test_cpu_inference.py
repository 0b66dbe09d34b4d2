"""The evaluator for the CPU: its backends, the choice among them, and new weights."""

import numpy as np
import pytest
import torch
from torch.nn.utils.fusion import fuse_conv_bn_eval

from rookery import games
from rookery.base import ConfigError, RookeryError, UnknownName
from rookery.nets import CpuEvaluator, NetConfig, build_net
from rookery.nets.inference import backend as shared
from rookery.nets.inference import cpu as cpu_backends
from rookery.nets.resnet import ConvNorm, fold
from rookery.training.shipped import load_shipped

TICTACTOE = ((2, 3, 3), 9)
CONNECT4 = ((2, 6, 7), 7)
GAMES = pytest.mark.parametrize("game", [TICTACTOE, CONNECT4], ids=["tictactoe", "connect4"])


def trained_net(game, seed=0):
    """Return a network with weights as after some training: no zeros, batch norm statistics."""
    net = build_net(NetConfig(width=8, depth=2), *game, seed=seed)
    stream = torch.Generator().manual_seed(seed)
    for name, tensor in net.state_dict().items():
        if "running_var" in name or "norm.weight" in name:
            tensor.uniform_(0.5, 1.5, generator=stream)
        elif "last" in name or "bias" in name or "running_mean" in name:
            tensor.normal_(0, 0.3, generator=stream)
    return net


def boards(game, count):
    return (np.random.default_rng(7).random((count, *game[0])) < 0.3).astype(np.float32)


def plain(net, planes):
    with torch.no_grad():
        logits, wdl = net.eval()(torch.from_numpy(planes))
    return logits.numpy(), wdl.softmax(1).numpy()


def assert_close(found, expected, tolerance=1e-4):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=tolerance, rtol=0)


def test_a_folded_convolution_equals_torchs_own_folding():
    pair = trained_net(CONNECT4).blocks[0].first.eval()
    with torch.no_grad():
        ours, theirs = pair.folded(), fuse_conv_bn_eval(pair.conv, pair.norm)
    torch.testing.assert_close(ours.weight, theirs.weight)
    torch.testing.assert_close(ours.bias, theirs.bias)


def test_folding_removes_batch_norm_and_does_not_change_the_network():
    net = trained_net(CONNECT4).train()
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    folded = fold(net)
    assert not [m for m in folded.modules() if isinstance(m, ConvNorm | torch.nn.BatchNorm2d)]
    assert net.training
    assert all(torch.equal(net.state_dict()[name], before[name]) for name in before)


@GAMES
@pytest.mark.parametrize("count", [0, 1, 16, 37])
def test_any_batch_equals_the_unfolded_network(game, count):
    net, planes = trained_net(game), boards(game, count)
    evaluator = CpuEvaluator(net, game[0], backend="float32", batch_size=16)
    found = evaluator(planes)
    assert [array.dtype for array in found] == [np.float32, np.float32]
    assert [array.shape for array in found] == [(count, game[1]), (count, 3)]
    assert_close(found, plain(net, planes))


def test_float16_stays_near_float32():
    net, planes = trained_net(CONNECT4), boards(CONNECT4, 16)
    found = CpuEvaluator(net, CONNECT4[0], backend="float16", batch_size=16)(planes)
    assert_close(found, plain(net, planes), tolerance=0.03)


def test_the_same_batch_gives_the_same_bits():
    planes = boards(CONNECT4, 40)
    for backend in ("float32", "float16"):
        make = [CpuEvaluator(trained_net(CONNECT4), CONNECT4[0], backend=backend) for _ in range(2)]
        first, again, other = make[0](planes), make[0](planes), make[1](planes)
        assert np.array_equal(first[0], again[0]) and np.array_equal(first[1], again[1])
        assert np.array_equal(first[0], other[0]) and np.array_equal(first[1], other[1])


def test_loading_replaces_the_weights_in_place():
    old, new, planes = trained_net(CONNECT4, 1), trained_net(CONNECT4, 2), boards(CONNECT4, 20)
    evaluator = CpuEvaluator(old, CONNECT4[0], backend="float32")
    before = evaluator(planes)
    tower = [parameter.data_ptr() for parameter in evaluator._network._net.parameters()]
    evaluator.load(new)
    assert_close(evaluator(planes), plain(new, planes))
    assert np.abs(before[0] - evaluator(planes)[0]).max() > 0.01
    assert tower == [parameter.data_ptr() for parameter in evaluator._network._net.parameters()]


def test_further_training_does_not_change_an_evaluator():
    net, planes = trained_net(TICTACTOE), boards(TICTACTOE, 8)
    evaluator = CpuEvaluator(net, TICTACTOE[0], backend="float32")
    before = evaluator(planes)[0]
    with torch.no_grad():
        net.policy.last.weight.add_(1)
    assert np.array_equal(before, evaluator(planes)[0])


def test_auto_takes_the_fastest_backend_measured():
    evaluator = CpuEvaluator(trained_net(CONNECT4), CONNECT4[0], batch_size=32)
    rates = evaluator.choice.rates
    assert evaluator.backend == max(rates, key=rates.get)
    assert "float32" in rates
    assert set(cpu_backends.DTYPES) <= rates.keys() | evaluator.choice.dropped.keys()
    assert not rates.keys() & set(cpu_backends.COMPILED)


def test_float32_is_never_too_slow(monkeypatch):
    monkeypatch.setattr(cpu_backends, "MAX_SLOWDOWN", 0)
    choice = CpuEvaluator(trained_net(TICTACTOE), TICTACTOE[0], batch_size=8).choice
    assert choice.backend == "float32" and set(choice.dropped) >= {"float16", "bfloat16"}


def test_auto_does_not_change_torchs_settings():
    # A bfloat16 matrix product on a processor without it turns oneDNN off for the whole process.
    before = torch._C._get_mkldnn_enabled()
    CpuEvaluator(trained_net(CONNECT4), CONNECT4[0], batch_size=8)
    assert torch._C._get_mkldnn_enabled() == before


def slowed(monkeypatch, seconds):
    """Make the float16 backend wait; return the sizes of the batches it receives."""
    call, seen = cpu_backends.TorchBackend.__call__, []

    def slow(self, rows):
        if self._dtype == torch.float16:
            seen.append(len(rows))
            cpu_backends.time.sleep(seconds)
        return call(self, rows)

    monkeypatch.setattr(cpu_backends.TorchBackend, "__call__", slow)
    return seen


@pytest.mark.parametrize(("seconds", "boards"), [(0.3, 3), (1.1, 1)])
def test_a_slow_backend_costs_three_boards_or_a_second(monkeypatch, seconds, boards):
    seen = slowed(monkeypatch, seconds)
    choice = CpuEvaluator(trained_net(TICTACTOE), TICTACTOE[0], batch_size=64).choice
    assert seen == [1] * boards
    assert choice.dropped["float16"].startswith("too slow")
    assert choice.backend != "float16"


def test_a_backend_that_disagrees_is_dropped_even_on_an_untrained_network(monkeypatch):
    monkeypatch.setattr(cpu_backends, "TOLERANCE", 1e-7)
    net = build_net(NetConfig(width=8, depth=2), *CONNECT4)
    choice = CpuEvaluator(net, CONNECT4[0], batch_size=16).choice
    assert choice.backend == "float32"
    assert choice.dropped["float16"].startswith(("differs from float32", "too slow"))


@pytest.mark.parametrize(
    ("boards_off", "by", "found"), [(1, 0.15, 0.015), (64, 0.015, 0.015), (1, 0.6, 0.06)]
)
def test_disagreement_counts_the_mean_and_single_boards(boards_off, by, found):
    right = torch.full((64, 3), 1 / 3), torch.full((64, 3), 1 / 3)
    wrong = right[0].clone(), right[1]
    wrong[0][:boards_off] += torch.tensor([by, -by / 2, -by / 2])
    logits = [[part.log() for part in outputs] for outputs in (wrong, right)]
    assert shared.disagreement(*logits) == pytest.approx(found, rel=1e-4)


def test_nan_is_not_agreement():
    right = torch.zeros((4, 3)), torch.zeros((4, 3))
    wrong = right[0].clone(), right[1]
    wrong[0][2, 0] = np.nan
    assert not shared.disagreement(wrong, right) <= shared.TOLERANCE


@pytest.mark.parametrize("name", ["chess", "connect4"])
def test_a_trained_network_agrees_in_half_precision(name):
    rules = games.load_game(name)
    net, boards = load_shipped(rules).build(), shared.random_boards(32, rules.planes_shape)
    right, rounded = [
        [
            torch.from_numpy(part)
            for part in CpuEvaluator(net, rules.planes_shape, backend=name)(boards)
        ]
        for name in ("float32", "float16")
    ]
    right[1], rounded[1] = right[1].log(), rounded[1].log()
    assert 1e-4 < shared.disagreement(rounded, right) <= shared.TOLERANCE / 2


def test_a_named_backend_is_not_measured():
    evaluator = CpuEvaluator(trained_net(TICTACTOE), TICTACTOE[0], backend="float32")
    assert evaluator.choice == shared.BackendChoice("float32")


def test_an_unknown_backend_is_refused():
    with pytest.raises(UnknownName, match="did you mean float32"):
        CpuEvaluator(trained_net(TICTACTOE), TICTACTOE[0], backend="float23")


def test_compiling_without_a_compiler_is_refused(monkeypatch):
    monkeypatch.setattr(cpu_backends.shutil, "which", lambda name: None)
    with pytest.raises(ConfigError, match=r"compiled needs a C\+\+ compiler"):
        CpuEvaluator(trained_net(TICTACTOE), TICTACTOE[0], backend="compiled")


def test_openvino_without_the_package_is_refused(monkeypatch):
    monkeypatch.setattr(cpu_backends.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="openvino needs the openvino package"):
        CpuEvaluator(trained_net(TICTACTOE), TICTACTOE[0], backend="openvino")


def test_outputs_that_overflow_are_refused():
    net = trained_net(TICTACTOE)
    evaluator = CpuEvaluator(net, TICTACTOE[0], backend="float16")
    with torch.no_grad():
        net.stem.norm.bias.fill_(1e6)
    with pytest.raises(RookeryError, match=r"not finite under float16; set run\.inference=float32"):
        evaluator.load(net)


@pytest.mark.parametrize("backend", ["auto", "float16", "float32"])
@pytest.mark.parametrize("number", [np.nan, -np.inf])
def test_weights_that_are_not_finite_are_refused(backend, number):
    net = trained_net(TICTACTOE)
    with torch.no_grad():
        net.blocks[0].first.conv.weight[0, 0, 0, 0] = number
    with pytest.raises(RookeryError, match=r"weights are not finite; .*learning\.learning_rate"):
        CpuEvaluator(net, TICTACTOE[0], backend=backend)


def test_planes_of_another_game_are_refused():
    evaluator = CpuEvaluator(trained_net(TICTACTOE), TICTACTOE[0], backend="float32")
    with pytest.raises(ValueError, match="was this network trained for another game"):
        evaluator(boards(CONNECT4, 2))


def check_padded_backend(backend):
    old, new = trained_net(CONNECT4, 1), trained_net(CONNECT4, 2)
    evaluator = CpuEvaluator(old, CONNECT4[0], backend=backend, batch_size=16)
    for net in (old, new):
        evaluator.load(net)
        for count in (1, 16, 37):
            planes = boards(CONNECT4, count)
            assert_close(evaluator(planes), plain(net, planes), tolerance=0.03)


def test_openvino_agrees_and_takes_new_weights():
    pytest.importorskip("openvino")
    check_padded_backend("openvino")


@pytest.mark.slow
@pytest.mark.skipif(bool(cpu_backends.missing_for("compiled")), reason="no C++ compiler")
@pytest.mark.filterwarnings("default")
def test_compiled_agrees_takes_new_weights_and_compiles_once():
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    check_padded_backend("compiled")
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
