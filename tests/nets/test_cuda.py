"""The evaluator for GPUs, on the CPU: the same answers as the net, whatever the size of a batch."""

import numpy as np
import pytest
import torch

from rookery.nets import GpuEvaluator, NetConfig, build_net
from rookery.nets.inference.gpu import _Fused, _picked
from rookery.nets.resnet import ResNet, fold

SHAPE, ACTIONS = (2, 6, 7), 7


def new_net(seed: int) -> torch.nn.Module:
    net = build_net(NetConfig(width=8, depth=1), SHAPE, ACTIONS, seed=seed)
    for head in (net.policy.last, net.value.last):
        torch.nn.init.normal_(head.weight, std=0.3)
    return net.eval()


@torch.no_grad()
def check(evaluator: GpuEvaluator, net: torch.nn.Module, count: int) -> None:
    planes = np.random.default_rng(count).random((count, *SHAPE)).astype(np.float32)
    logits, wdl = net(torch.from_numpy(planes))
    found = evaluator(planes)
    np.testing.assert_allclose(found[0], logits.numpy(), atol=1e-5)
    np.testing.assert_allclose(found[1], wdl.softmax(1).numpy(), atol=1e-5)


@pytest.mark.parametrize("counts", [(5, 40, 1, 33), (64, 64, 3)])
def test_answers_are_the_nets_own(counts: tuple[int, ...]) -> None:
    nets = [new_net(seed) for seed in (1, 2)]
    cpu = torch.device("cpu")
    evaluator = GpuEvaluator(nets[0], SHAPE, device=cpu, method="float32")
    for net in nets:
        evaluator.load(net)
        for count in counts:
            check(evaluator, net, count)


@torch.no_grad()
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_actions_drawn_on_the_board_are_found_among_both_heads_channels(dtype: torch.dtype) -> None:
    cells = torch.randperm(5 * 42, generator=torch.Generator().manual_seed(1))[:60].numpy()
    config = NetConfig(width=8, depth=1)
    folded = fold(build_net(config, SHAPE, len(cells), seed=1, policy_cells=cells))
    assert isinstance(folded, ResNet)
    torch.nn.init.normal_(folded.policy.conv.weight)
    plan, x = _Fused(folded, dtype), torch.rand((3, 8, 6, 7))
    logits, wdl = plan.answer(x.to(dtype).contiguous(memory_format=torch.channels_last))
    assert logits.dtype in (torch.float16, torch.float32), "kernels read no other"
    found = _picked(logits, plan.cells)
    np.testing.assert_allclose(found.numpy(), folded.policy(x).numpy(), atol=0.1)
    np.testing.assert_allclose(wdl.numpy(), folded.value(x).numpy(), atol=0.05)
