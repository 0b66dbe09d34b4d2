"""The evaluator for the CPU: its backends, the choice among them, and new weights."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from fake_time import FakeTime
from rookery import games
from rookery.base import ConfigError, RookeryError, UnknownName
from rookery.nets import CpuEvaluator, NetConfig, build_net
from rookery.nets.build import PlanesShape
from rookery.nets.inference import backend as shared
from rookery.nets.inference import cpu as cpu_backends
from rookery.nets.inference.backend import TorchBackend
from rookery.nets.resnet import ConvNorm, fold
from rookery.training.shipped import load_shipped

Shape = tuple[PlanesShape, int]
"""Planes and actions of a game."""
Boards = NDArray[np.float32]
Outputs = tuple[NDArray[np.float32], NDArray[np.float32]]

TICTACTOE = ((2, 3, 3), 9)
CONNECT4 = ((2, 6, 7), 7)
GAMES = pytest.mark.parametrize("game", [TICTACTOE, CONNECT4], ids=["tictactoe", "connect4"])


def trained_net(game: Shape, seed: int = 0) -> nn.Module:
    """Return a network with weights as after some training: no zeros, batch norm statistics."""
    net = build_net(NetConfig(width=8, depth=2), *game, seed=seed)
    stream = torch.Generator().manual_seed(seed)
    for name, tensor in net.state_dict().items():
        if "running_var" in name or "norm.weight" in name:
            tensor.uniform_(0.5, 1.5, generator=stream)
        elif "last" in name or "bias" in name or "running_mean" in name:
            tensor.normal_(0, 0.3, generator=stream)
    return net


def boards(game: Shape, count: int) -> Boards:
    return (np.random.default_rng(7).random((count, *game[0])) < 0.3).astype(np.float32)


def plain(net: nn.Module, planes: Boards) -> Outputs:
    with torch.no_grad():
        logits, wdl = net.eval()(torch.from_numpy(planes))
    return logits.numpy(), wdl.softmax(1).numpy()


def assert_close(found: Outputs, expected: Outputs, tolerance: float = 1e-4) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=tolerance, rtol=0)


def test_a_folded_convolution_equals_torchs_own_folding() -> None:
    pair = trained_net(CONNECT4).get_submodule("blocks.0.first").eval()
    assert isinstance(pair, ConvNorm)
    with torch.no_grad():
        ours, theirs = pair.folded(), fuse_conv_bn_eval(pair.conv, pair.norm)
    torch.testing.assert_close(ours.weight, theirs.weight)
    torch.testing.assert_close(ours.bias, theirs.bias)


def test_folding_removes_batch_norm_and_does_not_change_the_network() -> None:
    net = trained_net(CONNECT4).train()
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    folded = fold(net)
    assert not [m for m in folded.modules() if isinstance(m, ConvNorm | torch.nn.BatchNorm2d)]
    assert net.training
    assert all(torch.equal(net.state_dict()[name], before[name]) for name in before)


@GAMES
@pytest.mark.parametrize("count", [0, 1, 16, 37])
def test_any_batch_equals_the_unfolded_network(game: Shape, count: int) -> None:
    net, planes = trained_net(game), boards(game, count)
    evaluator = CpuEvaluator(net, game[0], backend="float32", batch_size=16)
    assert not evaluator.is_padded
    found = evaluator(planes)
    assert [array.dtype for array in found] == [np.float32, np.float32]
    assert [array.shape for array in found] == [(count, game[1]), (count, 3)]
    assert_close(found, plain(net, planes))


def test_float16_stays_near_float32() -> None:
    net, planes = trained_net(CONNECT4), boards(CONNECT4, 16)
    found = CpuEvaluator(net, CONNECT4[0], backend="float16", batch_size=16)(planes)
    assert_close(found, plain(net, planes), tolerance=0.03)


def test_the_same_batch_gives_the_same_bits() -> None:
    planes = boards(CONNECT4, 40)
    for backend in ("float32", "float16"):
        make = [CpuEvaluator(trained_net(CONNECT4), CONNECT4[0], backend=backend) for _ in range(2)]
        first, again, other = make[0](planes), make[0](planes), make[1](planes)
        assert np.array_equal(first[0], again[0]) and np.array_equal(first[1], again[1])
        assert np.array_equal(first[0], other[0]) and np.array_equal(first[1], other[1])


def test_loading_replaces_the_weights_in_place() -> None:
    old, new, planes = trained_net(CONNECT4, 1), trained_net(CONNECT4, 2), boards(CONNECT4, 20)
    evaluator = CpuEvaluator(old, CONNECT4[0], backend="float32")
    before = evaluator(planes)
    network = evaluator._network
    assert isinstance(network, TorchBackend)
    tower = [parameter.data_ptr() for parameter in network._net.parameters()]
    evaluator.load(new)
    assert_close(evaluator(planes), plain(new, planes))
    assert np.abs(before[0] - evaluator(planes)[0]).max() > 0.01
    assert tower == [parameter.data_ptr() for parameter in network._net.parameters()]


def test_further_training_does_not_change_an_evaluator() -> None:
    net, planes = trained_net(TICTACTOE), boards(TICTACTOE, 8)
    evaluator = CpuEvaluator(net, TICTACTOE[0], backend="float32")
    before = evaluator(planes)[0]
    with torch.no_grad():
        net.get_parameter("policy.last.weight").add_(1)
    assert np.array_equal(before, evaluator(planes)[0])


def test_auto_takes_the_fastest_backend_measured() -> None:
    evaluator = CpuEvaluator(trained_net(CONNECT4), CONNECT4[0], batch_size=32)
    rates = evaluator.choice.rates
    assert evaluator.backend == max(rates, key=rates.__getitem__)
    assert "float32" in rates
    assert set(cpu_backends.DTYPES) <= rates.keys() | evaluator.choice.dropped.keys()
    assert not rates.keys() & set(cpu_backends.COMPILED)


def test_float32_is_never_too_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_backends, "MAX_SLOWDOWN", 0)
    choice = CpuEvaluator(trained_net(TICTACTOE), TICTACTOE[0], batch_size=8).choice
    assert choice.backend == "float32" and set(choice.dropped) >= {"float16", "bfloat16"}


def test_auto_does_not_change_torchs_settings() -> None:
    # A bfloat16 matrix product on a processor without it turns oneDNN off for the whole process.
    before = torch._C._get_mkldnn_enabled()
    CpuEvaluator(trained_net(CONNECT4), CONNECT4[0], batch_size=8)
    assert torch._C._get_mkldnn_enabled() == before


def slowed(monkeypatch: pytest.MonkeyPatch, seconds: float) -> list[int]:
    """Make the float16 backend wait; return the sizes of the batches it receives."""
    clock, call, seen = FakeTime(tick=0.001), TorchBackend.__call__, list[int]()

    def slow(self: TorchBackend, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if self._dtype == torch.float16:
            seen.append(len(rows))
            clock.sleep(seconds)
        return call(self, rows)

    monkeypatch.setattr(cpu_backends, "time", clock)
    monkeypatch.setattr(TorchBackend, "__call__", slow)
    return seen


@pytest.mark.parametrize(("seconds", "boards"), [(0.3, 3), (1.1, 1)])
def test_a_slow_backend_costs_three_boards_or_a_second(
    monkeypatch: pytest.MonkeyPatch, seconds: float, boards: int
) -> None:
    seen = slowed(monkeypatch, seconds)
    choice = CpuEvaluator(trained_net(TICTACTOE), TICTACTOE[0], batch_size=64).choice
    assert seen == [1] * boards
    assert choice.dropped["float16"].startswith("too slow")
    assert choice.backend != "float16"


def test_a_backend_that_disagrees_is_dropped_even_on_an_untrained_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shared, "MOST_TOLERANCE", 1e-7)
    net = build_net(NetConfig(width=8, depth=2), *CONNECT4)
    choice = CpuEvaluator(net, CONNECT4[0], batch_size=16).choice
    assert choice.backend == "float32"
    assert choice.dropped["float16"].startswith(("differs from float32", "too slow"))


@pytest.mark.parametrize(
    ("boards_off", "by", "found"), [(1, 0.15, 0.015), (64, 0.015, 0.015), (1, 0.6, 0.06)]
)
def test_disagreement_counts_the_mean_and_single_boards(
    boards_off: int, by: float, found: float
) -> None:
    right = torch.full((64, 3), 1 / 3), torch.full((64, 3), 1 / 3)
    wrong = right[0].clone(), right[1]
    wrong[0][:boards_off] += torch.tensor([by, -by / 2, -by / 2])
    logits, expected = ((policy.log(), wdl.log()) for policy, wdl in (wrong, right))
    assert shared.disagreement(logits, expected) == pytest.approx(found, rel=1e-4)


def test_nan_is_not_agreement() -> None:
    right = torch.zeros((4, 3)), torch.zeros((4, 3))
    wrong = right[0].clone(), right[1]
    wrong[0][2, 0] = np.nan
    assert not shared.disagreement(wrong, right) <= shared.TOLERANCE


@pytest.mark.parametrize("name", ["chess", "connect4"])
def test_a_trained_network_agrees_in_half_precision(name: str) -> None:
    rules = games.load_game(name)
    net, boards = load_shipped(rules).build(), shared.random_boards(32, rules.planes_shape)
    outputs = []
    for backend in ("float32", "float16"):
        logits, wdl = CpuEvaluator(net, rules.planes_shape, backend=backend)(boards)
        outputs.append((torch.from_numpy(logits), torch.from_numpy(wdl).log()))
    right, rounded = outputs
    assert 1e-4 < shared.disagreement(rounded, right) <= shared.TOLERANCE / 2


def test_a_named_backend_is_not_measured() -> None:
    evaluator = CpuEvaluator(trained_net(TICTACTOE), TICTACTOE[0], backend="float32")
    assert evaluator.choice == shared.BackendChoice("float32")


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean float32"):
        CpuEvaluator(trained_net(TICTACTOE), TICTACTOE[0], backend="float23")


def test_compiling_without_a_compiler_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(ConfigError, match=r"compiled needs a C\+\+ compiler"):
        CpuEvaluator(trained_net(TICTACTOE), TICTACTOE[0], backend="compiled")


def test_openvino_without_the_package_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="openvino needs the openvino package"):
        CpuEvaluator(trained_net(TICTACTOE), TICTACTOE[0], backend="openvino")


def test_outputs_that_overflow_are_refused() -> None:
    net = trained_net(TICTACTOE)
    evaluator = CpuEvaluator(net, TICTACTOE[0], backend="float16")
    with torch.no_grad():
        net.get_parameter("stem.norm.bias").fill_(1e6)
    with pytest.raises(RookeryError, match=r"not finite under float16; set run\.inference=float32"):
        evaluator.load(net)


@pytest.mark.parametrize("backend", ["auto", "float16", "float32"])
@pytest.mark.parametrize("number", [np.nan, -np.inf])
def test_weights_that_are_not_finite_are_refused(backend: str, number: float) -> None:
    net = trained_net(TICTACTOE)
    with torch.no_grad():
        net.get_parameter("blocks.0.first.conv.weight")[0, 0, 0, 0] = number
    with pytest.raises(RookeryError, match=r"weights are not finite; .*learning\.learning_rate"):
        CpuEvaluator(net, TICTACTOE[0], backend=backend)


def test_planes_of_another_game_are_refused() -> None:
    evaluator = CpuEvaluator(trained_net(TICTACTOE), TICTACTOE[0], backend="float32")
    with pytest.raises(ValueError, match="was this network trained for another game"):
        evaluator(boards(CONNECT4, 2))


def check_padded_backend(backend: str) -> None:
    old, new = trained_net(CONNECT4, 1), trained_net(CONNECT4, 2)
    evaluator = CpuEvaluator(old, CONNECT4[0], backend=backend, batch_size=16)
    assert evaluator.is_padded
    for net in (old, new):
        evaluator.load(net)
        for count in (1, 16, 37):
            planes = boards(CONNECT4, count)
            assert_close(evaluator(planes), plain(net, planes), tolerance=0.03)


def test_openvino_agrees_and_takes_new_weights() -> None:
    pytest.importorskip("openvino")
    check_padded_backend("openvino")


@pytest.mark.slow
@pytest.mark.skipif(bool(cpu_backends.missing_for("compiled")), reason="no C++ compiler")
@pytest.mark.filterwarnings("default")
def test_compiled_agrees_takes_new_weights_and_compiles_once() -> None:
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    check_padded_backend("compiled")
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
