"""The evaluator for GPUs, run on the CPU: its outputs equal the network's for any batch size."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from rookery.base import RookeryError
from rookery.nets import GpuEvaluator, NetConfig, build_net
from rookery.nets.inference.gpu_backends import FusedBackend, action_logits
from rookery.nets.resnet import ResNet, fold

SHAPE, ACTIONS = (2, 6, 7), 7


def new_net(seed: int) -> torch.nn.Module:
    net = build_net(NetConfig(width=8, depth=1), SHAPE, ACTIONS, seed=seed)
    for head in ("policy.last.weight", "value.last.weight"):
        torch.nn.init.normal_(net.get_parameter(head), std=0.3)
    return net.eval()


@torch.no_grad()
def check(evaluator: GpuEvaluator, net: torch.nn.Module, count: int) -> None:
    planes = np.random.default_rng(count).random((count, *SHAPE)).astype(np.float32)
    logits, wdl = net(torch.from_numpy(planes))
    found = evaluator(planes)
    np.testing.assert_allclose(found[0], logits.numpy(), atol=1e-5)
    np.testing.assert_allclose(found[1], wdl.softmax(1).numpy(), atol=1e-5)


@pytest.mark.parametrize("counts", [(5, 40, 1, 33), (64, 64, 3)])
def test_outputs_equal_the_networks(counts: tuple[int, ...]) -> None:
    nets = [new_net(seed) for seed in (1, 2)]
    cpu = torch.device("cpu")
    evaluator = GpuEvaluator(nets[0], SHAPE, device=cpu, backend="float32")
    for net in nets:
        evaluator.load(net)
        for count in counts:
            check(evaluator, net, count)


@torch.no_grad()
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_fused_heads_equal_separate_heads_with_policy_cells(dtype: torch.dtype) -> None:
    cells = torch.randperm(5 * 42, generator=torch.Generator().manual_seed(1))[:60].numpy()
    config = NetConfig(width=8, depth=1)
    folded = fold(build_net(config, SHAPE, len(cells), seed=1, policy_cells=cells))
    assert isinstance(folded, ResNet)
    torch.nn.init.normal_(folded.policy.conv.weight)
    fused, x = FusedBackend(folded, dtype), torch.rand((3, 8, 6, 7))
    logits, wdl = fused.heads(x.to(dtype).contiguous(memory_format=torch.channels_last))
    assert logits.dtype in (torch.float16, torch.float32), "kernels cannot read others"
    found = action_logits(logits, fused.cells)
    np.testing.assert_allclose(found.numpy(), folded.policy(x).numpy(), atol=0.1)
    np.testing.assert_allclose(wdl.numpy(), folded.value(x).numpy(), atol=0.05)


def convolution_relu(x: Tensor, weight: Tensor, bias: Tensor, *options: object) -> Tensor:
    return functional.relu(functional.conv2d(x, weight, bias, padding=1))


def convolution_add_relu(
    x: Tensor, weight: Tensor, skip: Tensor, alpha: float, bias: Tensor, *options: object
) -> Tensor:
    return functional.relu(functional.conv2d(x, weight, bias, padding=1) + alpha * skip)


def test_fused_calls_equal_the_network_with_new_weights_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch, "cudnn_convolution_relu", convolution_relu)
    monkeypatch.setattr(torch, "cudnn_convolution_add_relu", convolution_add_relu)
    old, new = new_net(1), new_net(2)
    folded = fold(old)
    assert isinstance(folded, ResNet)
    fused = FusedBackend(folded, torch.float32)
    planes = torch.rand((5, *SHAPE), generator=torch.Generator().manual_seed(1))
    for net in (old, new):
        fused.load(fold(net))
        with torch.no_grad():
            for found, expected in zip(fused(planes), net(planes), strict=True):
                torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("backend", ["auto", "float32"])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused_at_the_start(backend: str, number: float) -> None:
    net = new_net(1)
    torch.nn.init.constant_(net.get_parameter("stem.conv.weight"), number)
    with pytest.raises(RookeryError, match=r"weights are not finite; .*learning\.learning_rate"):
        GpuEvaluator(net, SHAPE, device=torch.device("cpu"), backend=backend)


def test_weights_that_are_not_finite_are_reported_by_check() -> None:
    net = new_net(1)
    evaluator = GpuEvaluator(net, SHAPE, device=torch.device("cpu"), backend="float32")
    evaluator.check()
    torch.nn.init.constant_(net.get_parameter("stem.norm.bias"), np.nan)
    evaluator.load(net)
    with pytest.raises(RookeryError, match="the network's weights are not finite"):
        evaluator.check()


def test_outputs_that_overflow_are_reported_by_check() -> None:
    net = new_net(1)
    evaluator = GpuEvaluator(net, SHAPE, device=torch.device("cpu"), backend="float16")
    torch.nn.init.constant_(net.get_parameter("stem.norm.bias"), 1e6)
    evaluator.load(net)
    with pytest.raises(RookeryError, match=r"not finite under float16; set run\.inference=float32"):
        evaluator.check()


def test_a_network_that_overflows_in_float32_is_refused() -> None:
    net = new_net(1)
    torch.nn.init.constant_(net.get_parameter("stem.norm.bias"), 3e38)
    with pytest.raises(RookeryError, match="outputs are not finite under float32; go back"):
        GpuEvaluator(net, SHAPE, device=torch.device("cpu"))
