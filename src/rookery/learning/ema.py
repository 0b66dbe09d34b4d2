"""The averaged net that plays: an exponential moving average of the weights and buffers."""

from copy import deepcopy

import torch
from torch import Tensor, nn


def decay(update: int, ema: float) -> float:
    """How much of the average survives update number `update` (from 0): less at the start."""
    return min(ema, (1 + update) / (10 + update))


class WeightEma:
    """A copy of a net that follows it slowly; batch norm's statistics are averaged too."""

    def __init__(self, net: nn.Module) -> None:
        self.net = deepcopy(net).eval().requires_grad_(False)
        followed, average = net.state_dict(), self.net.state_dict()
        smooth = [name for name in average if average[name].is_floating_point()]
        counts = [name for name in average if name not in smooth]
        self._smooth = [average[name] for name in smooth], [followed[name] for name in smooth]
        self._counts = [average[name] for name in counts], [followed[name] for name in counts]

    @torch.no_grad()
    def update(self, keep: float | Tensor) -> None:
        """Move towards the net: average = keep * average + (1 - keep) * net."""
        if isinstance(keep, Tensor):  # of the device, read when a graph is replayed
            steps = torch._foreach_sub(self._smooth[1], self._smooth[0])
            torch._foreach_mul_(steps, 1 - keep)
            torch._foreach_add_(self._smooth[0], steps)
        else:
            torch._foreach_lerp_(*self._smooth, 1 - keep)
        if self._counts[0]:
            torch._foreach_copy_(*self._counts)
