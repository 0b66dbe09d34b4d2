"""The loss against torch's own distributions."""

import pytest
import torch
from torch.distributions import Categorical, kl_divergence

from rookery.learning import Losses, LossWeights, Targets, measure_losses


def random_targets(rows: int = 32, actions: int = 7) -> tuple[Targets, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    legal = torch.rand(rows, actions) < 0.6
    legal[:, 0] = True
    policy = torch.rand(rows, actions).masked_fill(~legal, 0)
    targets = Targets(
        policy=policy / policy.sum(1, keepdim=True),
        legal=legal,
        wdl=torch.rand(rows, 3).softmax(1),
    )
    return targets, torch.randn(rows, actions), torch.randn(rows, 3)


def measured(value_weight: float = 1.0) -> tuple[Losses, Targets, torch.Tensor, torch.Tensor]:
    targets, logits, wdl = random_targets()
    return (
        measure_losses(logits, wdl, targets=targets, weights=LossWeights(value_weight)),
        targets,
        logits,
        wdl,
    )


def test_kl_and_cross_entropy_agree_with_torch_over_the_legal_actions() -> None:
    losses, targets, logits, wdl = measured()
    kl, crossed = [], []
    for row in range(len(logits)):
        legal = targets.legal[row]
        target = Categorical(probs=targets.policy[row][legal])
        found = Categorical(logits=logits[row][legal])
        kl.append(kl_divergence(target, found))
        crossed.append(kl[-1] + target.entropy())
    assert losses.policy_kl.item() == pytest.approx(torch.stack(kl).mean().item(), rel=1e-4)
    assert losses.policy.item() == pytest.approx(torch.stack(crossed).mean().item(), rel=1e-4)
    expected = -(targets.wdl * wdl.log_softmax(1)).sum(1).mean()
    assert losses.value.item() == pytest.approx(expected.item(), rel=1e-5)


def test_the_total_weighs_the_value() -> None:
    losses, *_ = measured(value_weight=0.25)
    assert losses.total.item() == pytest.approx(
        losses.policy.item() + 0.25 * losses.value.item(), rel=1e-6
    )


def test_illegal_logits_have_no_gradient_and_no_say() -> None:
    targets, logits, wdl = random_targets()
    logits.requires_grad_()
    loss = measure_losses(logits, wdl, targets=targets, weights=LossWeights(1.0)).policy
    (gradient,) = torch.autograd.grad(loss, logits)
    assert (gradient[~targets.legal] == 0).all()
    assert (gradient[targets.legal] != 0).any()
    shouted = logits.detach().masked_fill(~targets.legal, 1000.0)
    assert measure_losses(shouted, wdl, targets=targets, weights=LossWeights(1.0)).policy == loss


def test_a_perfect_net_has_no_divergence_and_full_accuracy() -> None:
    targets, _, _ = random_targets()
    losses = measure_losses(
        targets.policy.log().clamp(min=-50),
        targets.wdl.log(),
        targets=targets,
        weights=LossWeights(1.0),
    )
    assert losses.policy_kl.item() == pytest.approx(0, abs=1e-5)
    assert losses.policy_accuracy == 1
    assert losses.value_accuracy == 1


def test_half_precision_logits_are_compared_in_single() -> None:
    targets, logits, wdl = random_targets()
    half = measure_losses(
        logits.bfloat16(), wdl.bfloat16(), targets=targets, weights=LossWeights(1.0)
    )
    assert half.total.dtype == torch.float32
