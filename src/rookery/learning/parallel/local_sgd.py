"""Local SGD: ranks learn independently and average their weights every few updates.

Ranks do not wait for each other between two averages. With outer momentum, the change from one
average to the next is a step to which a share of the previous step is added. After an average all
ranks have equal weights and statistics. Averaged weights are not those of one learner with the
whole batch: each rank clips and scales its own gradients, with optimizer moments of its own.
"""

import torch
from torch import nn

from rookery.learning.config import LearningConfig
from rookery.learning.gradients import RankGradients
from rookery.learning.parallel.exchange import Exchange
from rookery.learning.parallel.group import FlatTensors, ProcessGroup


class LocalSgd(RankGradients):
    """Gradients of this rank's own rows; weights and norm statistics are averaged periodically."""

    def __init__(
        self, net: nn.Module, *, group: ProcessGroup, config: LearningConfig, precision: str
    ) -> None:
        super().__init__(net, group=group, config=config, precision=precision)
        self._exchange = Exchange(group, config)
        self._every = config.sync_every
        statistics = [buffer for buffer in net.buffers() if buffer.is_floating_point()]
        self._weights = FlatTensors([*net.parameters(), *statistics])
        self._anchor = self._weights.read()
        self._momentum = torch.full_like(self._anchor, config.outer_momentum)
        if statistics:  # momentum could make a variance negative
            self._momentum[-FlatTensors(statistics).read().numel() :] = 0.0
        self._velocity = torch.zeros_like(self._anchor)

    def settle(self, update: int, *, is_last: bool) -> None:
        """Average after every `sync_every` updates and after the last one."""
        if is_last or (update + 1) % self._every == 0:
            self._average()

    def _average(self) -> None:
        """Exchange the changes since the last average, weighted by rows."""
        change = self._exchange.sum((self._weights.read() - self._anchor) * self.share)
        self._velocity = self._momentum * self._velocity + change
        self._anchor = self._anchor + self._velocity
        if self._exchange.has_server:
            self._anchor = self._group.broadcast(self._anchor)
        self._weights.write(self._anchor)
