"""Ensembles: values averaged as probabilities, policies as log probabilities."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rookery.nets import CpuEvaluator, Ensemble, GpuEvaluator, NetConfig, build_net

SHAPE, ACTIONS = (2, 6, 7), 7
PLANES = np.random.default_rng(1).random((5, *SHAPE)).astype(np.float32)


def new_net(seed: int, width: int = 8) -> nn.Module:
    net = build_net(NetConfig(width=width, depth=1), SHAPE, ACTIONS, seed=seed)
    for head in ("policy.last.weight", "value.last.weight"):
        torch.nn.init.normal_(net.get_parameter(head), std=0.3)
    return net.eval()


@torch.no_grad()
def probabilities(net: nn.Module) -> tuple[Tensor, Tensor]:
    """Return probabilities of actions and of win, draw, loss."""
    logits, wdl = net(torch.from_numpy(PLANES))
    return logits.softmax(1), wdl.softmax(1)


def test_two_copies_of_a_network_equal_the_network() -> None:
    net = new_net(1)
    for found, expected in zip(
        probabilities(Ensemble([net, net])), probabilities(net), strict=True
    ):
        torch.testing.assert_close(found, expected)


def test_values_are_averaged_as_probabilities() -> None:
    nets = [new_net(1), new_net(2, width=16), new_net(3)]
    mean = torch.stack([probabilities(net)[1] for net in nets]).mean(0)
    torch.testing.assert_close(probabilities(Ensemble(nets))[1], mean)


def test_logits_of_illegal_moves_do_not_change_the_policy_of_legal_ones() -> None:
    nets = [new_net(1), new_net(2)]
    before = probabilities(Ensemble(nets))[0][:, :4]
    with torch.no_grad():
        nets[0].get_parameter("policy.last.bias")[4:] += 20.0
    after = probabilities(Ensemble(nets))[0][:, :4]
    torch.testing.assert_close(
        after / after.sum(1, keepdim=True), before / before.sum(1, keepdim=True)
    )


def test_policies_are_averaged_geometrically() -> None:
    nets = [new_net(1), new_net(2)]
    product = (probabilities(nets[0])[0] * probabilities(nets[1])[0]).sqrt()
    expected = product / product.sum(1, keepdim=True)
    torch.testing.assert_close(probabilities(Ensemble(nets))[0], expected)


@pytest.mark.parametrize("backend", ["float32", "bfloat16"])
def test_evaluators_run_an_ensemble_like_one_network(backend: str) -> None:
    ensemble = Ensemble([new_net(1), new_net(2, width=16)])
    policy, wdl = probabilities(ensemble)
    evaluators = (
        CpuEvaluator(ensemble, SHAPE, backend=backend),
        GpuEvaluator(ensemble, SHAPE, device=torch.device("cpu"), backend=backend),
    )
    for evaluator in evaluators:
        found = evaluator(PLANES)
        tolerance = 1e-5 if backend == "float32" else 0.02
        np.testing.assert_allclose(
            torch.from_numpy(found[0]).softmax(1).numpy(), policy.numpy(), atol=tolerance
        )
        np.testing.assert_allclose(found[1], wdl.numpy(), atol=tolerance)


def test_new_weights_reach_every_member() -> None:
    old, new = (Ensemble([new_net(seed), new_net(seed + 1)]) for seed in (1, 5))
    evaluator = GpuEvaluator(old, SHAPE, device=torch.device("cpu"), backend="float32")
    evaluator.load(new)
    np.testing.assert_allclose(evaluator(PLANES)[1], probabilities(new)[1].numpy(), atol=1e-5)
