"""The averaged network that plays: an exponential moving average of weights and buffers."""

from copy import deepcopy

import torch
from torch import Tensor, nn


def ema_decay(update: int, maximum: float) -> float:
    """Return the decay at update number `update` (from 0): smaller at the start of a run."""
    return min(maximum, (1 + update) / (10 + update))


class WeightEma:
    """A copy of a network that follows it slowly; batch norm's statistics are averaged too."""

    def __init__(self, net: nn.Module) -> None:
        self.net = deepcopy(net).eval().requires_grad_(False)

    @torch.no_grad()
    def update(self, net: nn.Module, decay: float | Tensor) -> None:
        """Set the average to decay * average + (1 - decay) * net; counters are copied."""
        averages, current = self.net.state_dict(), net.state_dict()
        smooth = [name for name, tensor in averages.items() if tensor.is_floating_point()]
        counters = [name for name in averages if name not in smooth]
        targets, sources = [averages[name] for name in smooth], [current[name] for name in smooth]
        if isinstance(decay, Tensor):  # on the device, read when a graph is replayed
            steps = torch._foreach_sub(sources, targets)
            torch._foreach_mul_(steps, 1 - decay)
            torch._foreach_add_(targets, steps)
        else:
            torch._foreach_lerp_(targets, sources, 1 - decay)
        for name in counters:
            averages[name].copy_(current[name])
