"""Several nets as one: values averaged as probabilities, policies over legal moves alone."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rookery.nets import CpuEvaluator, Ensemble, GpuEvaluator, NetConfig, build_net

SHAPE, ACTIONS = (2, 6, 7), 7
PLANES = np.random.default_rng(1).random((5, *SHAPE)).astype(np.float32)


def new_net(seed: int, width: int = 8) -> nn.Module:
    net = build_net(NetConfig(width=width, depth=1), SHAPE, ACTIONS, seed=seed)
    for head in (net.policy.last, net.value.last):
        torch.nn.init.normal_(head.weight, std=0.3)
    return net.eval()


@torch.no_grad()
def ask(net: nn.Module) -> tuple[Tensor, Tensor]:
    """Probabilities of moves and of results."""
    logits, wdl = net(torch.from_numpy(PLANES))
    return logits.softmax(1), wdl.softmax(1)


def test_a_net_twice_is_the_net() -> None:
    net = new_net(1)
    for found, expected in zip(ask(Ensemble([net, net])), ask(net), strict=True):
        torch.testing.assert_close(found, expected)


def test_values_are_averaged_as_probabilities() -> None:
    nets = [new_net(1), new_net(2, width=16), new_net(3)]
    mean = torch.stack([ask(net)[1] for net in nets]).mean(0)
    torch.testing.assert_close(ask(Ensemble(nets))[1], mean)


def test_what_nets_say_of_illegal_moves_changes_nothing_among_legal_ones() -> None:
    nets = [new_net(1), new_net(2)]
    before = ask(Ensemble(nets))[0][:, :4]
    with torch.no_grad():
        nets[0].policy.last.bias[4:] += 20.0
    after = ask(Ensemble(nets))[0][:, :4]
    torch.testing.assert_close(
        after / after.sum(1, keepdim=True), before / before.sum(1, keepdim=True)
    )


def test_policies_meet_at_their_geometric_mean() -> None:
    nets = [new_net(1), new_net(2)]
    product = (ask(nets[0])[0] * ask(nets[1])[0]).sqrt()
    expected = product / product.sum(1, keepdim=True)
    torch.testing.assert_close(ask(Ensemble(nets))[0], expected)


@pytest.mark.parametrize("method", ["float32", "bfloat16"])
def test_evaluators_take_an_ensemble_as_any_net(method: str) -> None:
    ensemble = Ensemble([new_net(1), new_net(2, width=16)])
    policy, wdl = ask(ensemble)
    evaluators = (
        CpuEvaluator(ensemble, SHAPE, method=method),
        GpuEvaluator(ensemble, SHAPE, device=torch.device("cpu"), method=method),
    )
    for evaluator in evaluators:
        found = evaluator(PLANES)
        tolerance = 1e-5 if method == "float32" else 0.02
        np.testing.assert_allclose(
            torch.from_numpy(found[0]).softmax(1).numpy(), policy.numpy(), atol=tolerance
        )
        np.testing.assert_allclose(found[1], wdl.numpy(), atol=tolerance)


def test_new_weights_reach_every_net_of_an_ensemble() -> None:
    old, new = (Ensemble([new_net(seed), new_net(seed + 1)]) for seed in (1, 5))
    evaluator = GpuEvaluator(old, SHAPE, device=torch.device("cpu"), method="float32")
    evaluator.load(new)
    np.testing.assert_allclose(evaluator(PLANES)[1], ask(new)[1].numpy(), atol=1e-5)
