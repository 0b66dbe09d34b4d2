"""The evaluator for GPUs, on the CPU: the same answers as the net, whatever the size of a batch."""

import numpy as np
import pytest
import torch

from rookery.nets import CudaEvaluator, NetConfig, build_net

SHAPE, ACTIONS = (2, 6, 7), 7


def new_net(seed: int) -> torch.nn.Module:
    net = build_net(NetConfig(width=8, depth=1), SHAPE, ACTIONS, seed=seed)
    for head in (net.policy.last, net.value.last):
        torch.nn.init.normal_(head.weight, std=0.3)
    return net.eval()


@torch.no_grad()
def check(evaluator: CudaEvaluator, net: torch.nn.Module, count: int) -> None:
    planes = np.random.default_rng(count).random((count, *SHAPE)).astype(np.float32)
    logits, wdl = net(torch.from_numpy(planes))
    found = evaluator(planes)
    np.testing.assert_allclose(found[0], logits.numpy(), atol=1e-5)
    np.testing.assert_allclose(found[1], wdl.softmax(1).numpy(), atol=1e-5)


@pytest.mark.parametrize("counts", [(5, 40, 1, 33), (64, 64, 3)])
def test_answers_are_the_nets_own(counts: tuple[int, ...]) -> None:
    nets = [new_net(seed) for seed in (1, 2)]
    cpu = torch.device("cpu")
    evaluator = CudaEvaluator(nets[0], SHAPE, device=cpu, method="float32")
    for net in nets:
        evaluator.load(net)
        for count in counts:
            check(evaluator, net, count)
