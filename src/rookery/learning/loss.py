"""The loss: cross entropies of the policy over legal actions and of win, draw, loss."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from rookery.base import ConfigError, Registry

_NUMBER = re.compile(r"-?\d{1,9}(\.\d{1,9})?(e-?\d)?")
ILLEGAL = -1e9  # probability zero, but finite: times zero it is zero


@dataclass(frozen=True)
class Losses:
    """Means over a batch, each a tensor without axes.

    total: policy + value_weight * value + the user's own losses, which is minimised.
    policy: cross entropy of the policy, in nats.
    value: cross entropy of win, draw and loss, in nats.
    policy_kl: KL(target || policy), the part of `policy` above the target's entropy.
    policy_accuracy: share of rows whose likeliest action is the target's.
    value_accuracy: share of rows whose likeliest outcome is the target's.
    """

    total: Tensor
    policy: Tensor
    value: Tensor
    policy_kl: Tensor
    policy_accuracy: Tensor
    value_accuracy: Tensor

    def detached(self) -> "Losses":
        """Return the losses without their graph."""
        return Losses(*(getattr(self, field.name).detach() for field in fields(self)))


@dataclass(frozen=True)
class Targets:
    """What the network should predict, on its device.

    policy: [B, A] probabilities, zero where illegal.
    legal: [B, A] bool.
    wdl: [B, 3] probabilities of win, draw and loss.
    """

    policy: Tensor
    legal: Tensor
    wdl: Tensor


OwnLoss = Callable[[Tensor, Tensor, Targets], Tensor]
"""Returns a mean over a batch, from logits [B, A] and [B, 3] in float32 and the targets."""
OWN_LOSSES: Registry[OwnLoss] = Registry("loss")
register_loss = OWN_LOSSES.register


@dataclass(frozen=True)
class LossWeights:
    """What the total loss consists of, besides the policy loss with weight 1."""

    value: float
    own: tuple[tuple[OwnLoss, float], ...] = ()

    @classmethod
    def read(cls, value: float, own: str) -> "LossWeights":
        """Return the weights; `own` are losses of the user, such as `entropy:0.01, smooth:1`."""
        found = []
        for text in filter(None, map(str.strip, own.split(","))):
            name, _, weight = text.partition(":")
            if not _NUMBER.fullmatch(weight.strip()):
                raise ConfigError(f"learning.own_losses has {text[:60]!r}, expected NAME:WEIGHT")
            found.append((OWN_LOSSES.find(name.strip()), float(weight)))
        return cls(value, tuple(found))


def measure_losses(
    policy_logits: Tensor, wdl_logits: Tensor, *, targets: Targets, weights: LossWeights
) -> Losses:
    """Compare logits [B, A] and [B, 3] of any precision with the targets, in float32."""
    logits = policy_logits.float().masked_fill(~targets.legal, ILLEGAL)
    policy = cross_entropy(logits, targets.policy)
    value = cross_entropy(wdl_logits.float(), targets.wdl)
    total = policy + weights.value * value
    for own, weight in weights.own:
        total = total + weight * own(logits, wdl_logits.float(), targets)
    return Losses(
        total=total,
        policy=policy,
        value=value,
        policy_kl=policy - torch.special.entr(targets.policy).sum(1).mean(),
        policy_accuracy=_agreement(logits, targets.policy),
        value_accuracy=_agreement(wdl_logits, targets.wdl),
    )


def mean_losses(parts: Sequence[Losses], sizes: Sequence[int] = ()) -> Losses:
    """Return the means over parts, which have `sizes` rows or are alike; empty ones do not count.

    Without any row, all means are zero.
    """
    if sizes:
        kept = [(part, size) for part, size in zip(parts, sizes, strict=True) if size]
        parts, rows = [part for part, _ in kept], [size for _, size in kept]
        if not kept:
            return Losses(*[torch.zeros(())] * len(fields(Losses)))
    columns = ([getattr(part, field.name) for part in parts] for field in fields(Losses))
    if not sizes:
        return Losses(*(torch.stack(column).mean() for column in columns))
    weights = torch.tensor(rows, device=parts[0].total.device) / sum(rows)
    return Losses(*(torch.stack(column) @ weights for column in columns))


def _agreement(logits: Tensor, target: Tensor) -> Tensor:
    return (logits.argmax(1) == target.argmax(1)).float().mean()
