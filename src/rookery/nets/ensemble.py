"""Several nets of one game that answer as one.

Win, draw and loss are averaged as probabilities. Policies are averaged as log probabilities: the
search then makes of them the geometric mean over legal moves. Of illegal moves nets learn nothing,
and may give them nearly all of the probability or none; a plain mean of probabilities would let one
net count ten times as much as another for no other reason.
"""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

Outputs = tuple[Tensor, Tensor]


class Ensemble(nn.Module):
    """Nets for the same planes and actions; their mean, as the logits of one net."""

    def __init__(self, members: Iterable[nn.Module]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)

    def forward(self, planes: Tensor) -> Outputs:
        return average([member(planes) for member in self.members])


def average(answers: Sequence[Outputs]) -> Outputs:
    """The mean of policy logits [B, A] and of win, draw, loss logits [B, 3], as logits."""
    policies, values = zip(*answers, strict=True)
    policy = torch.stack([logits.log_softmax(1) for logits in policies]).mean(0)
    return policy, torch.stack([logits.log_softmax(1) for logits in values]).logsumexp(0)
