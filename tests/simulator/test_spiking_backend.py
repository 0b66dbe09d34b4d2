"""Spiking networks by fused calls compared with the network itself."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from rookery.nets import GpuEvaluator, NetConfig, build_net
from rookery.nets.inference.gpu_backends import action_logits
from rookery.nets.inference.spiking_gpu import SpikingBackend
from rookery.nets.resnet import fold
from rookery.nets.spiking import SpikingNet

SHAPE, ACTIONS = (2, 3, 3), 9
CELLS = np.arange(2 * 9)[::-2].copy()
CPU = torch.device("cpu")


def new_net(
    config: NetConfig, *, seed: int, policy_cells: NDArray[np.int64] | None = None
) -> nn.Module:
    """Return a network with random numbers in all layers."""
    net = build_net(config, SHAPE, ACTIONS, seed=seed, policy_cells=policy_cells)
    stream = torch.Generator().manual_seed(seed)
    for name, tensor in net.state_dict().items():
        if "running_var" in name or "norm.weight" in name:
            tensor.uniform_(0.5, 1.5, generator=stream)
        elif tensor.is_floating_point() and ("bias" in name or "mean" in name or not tensor.any()):
            tensor.normal_(0, 0.3, generator=stream)
    return net.eval()


def boards(count: int) -> NDArray[np.float32]:
    return (np.random.default_rng(7).random((count, *SHAPE)) < 0.4).astype(np.float32)


@torch.inference_mode()
@pytest.mark.parametrize(
    ("config", "policy_cells"),
    [
        (NetConfig("spiking", width=8, depth=2, steps=3), None),
        (NetConfig("spiking", width=5, depth=1, steps=1, decay=1.0, threshold=0.5), CELLS),
        (NetConfig("spiking", width=8, depth=0), CELLS),
    ],
)
def test_outputs_equal_the_networks_with_new_weights_too(
    config: NetConfig, policy_cells: NDArray[np.int64] | None
) -> None:
    old, new = (new_net(config, seed=seed, policy_cells=policy_cells) for seed in (1, 2))
    folded = fold(old)
    assert isinstance(folded, SpikingNet)
    backend, planes = SpikingBackend(folded, torch.float32), torch.from_numpy(boards(7))
    for net in (old, new):
        backend.load(fold(net))
        logits, wdl = backend(planes)
        found, expected = (action_logits(logits, backend.cells), wdl), net(planes)
        assert expected[0].std() > 0.01
        for one, other in zip(found, expected, strict=True):
            is_close = (one - other).abs().amax(1) < 1e-4
            assert is_close.float().mean() > 0.8, "rounding may move a membrane on a few boards"


def test_auto_takes_fused_calls_in_float16() -> None:
    net = new_net(NetConfig("spiking", width=4, depth=2, steps=2), seed=1)
    evaluator = GpuEvaluator(net, SHAPE, device=CPU)
    assert evaluator.backend == "fused-float16" and not evaluator.choice.dropped
    exact = GpuEvaluator(net, SHAPE, device=CPU, backend="float32")
    for one, other in zip(evaluator(boards(20)), exact(boards(20)), strict=True):
        assert one.dtype == np.float32 and np.abs(one - other).mean() < 0.02
    evaluator.check()
