"""Ranks that learn apart and average their weights every few updates (local SGD).

Between two averages nobody waits. With an outer momentum the average is taken as a step from the
last one and goes on in the direction of the steps before.
"""

import torch
from torch import Tensor, nn

from rookery.learning.config import LearningConfig
from rookery.learning.member import Member
from rookery.learning.parallel.compress import new_codec
from rookery.learning.parallel.exchange import Exchange
from rookery.learning.parallel.group import FlatTensors, ProcessGroup


class LocalSgd(Member):
    """Gradients of this rank's own rows; weights and statistics are averaged now and then."""

    def __init__(
        self, net: nn.Module, *, group: ProcessGroup, config: LearningConfig, precision: str
    ) -> None:
        super().__init__(net, group=group, config=config, precision=precision)
        codec = new_codec(config.compress, config.compression_ratio)
        self._exchange = Exchange(group, codec, way=config.synchronise)
        self._every = config.sync_every
        statistics = [buffer for buffer in net.buffers() if buffer.is_floating_point()]
        self._weights = FlatTensors([*net.parameters(), *statistics])
        self._anchor = self._weights.read()
        self._momentum = torch.full_like(self._anchor, config.outer_momentum)
        if statistics:  # a variance must not be carried below zero
            self._momentum[-FlatTensors(statistics).read().numel() :] = 0.0
        self._velocity = torch.zeros_like(self._anchor)

    def settle(self, update: int, *, is_last: bool) -> None:
        """Average, if it is time to or if this was the last update for now."""
        if is_last or (update + 1) % self._every == 0:
            self._average()

    def _average(self) -> None:
        """What is exchanged is how far everybody has come since the last average."""
        moved = self._exchange.sum((self._weights.read() - self._anchor) * self.share)
        self._velocity = self._momentum * self._velocity + moved
        self._anchor = self._pulled(self._anchor + self._velocity)
        self._weights.write(self._anchor)

    def _pulled(self, weights: Tensor) -> Tensor:
        exchange = self._exchange
        return exchange.group.spread(weights) if exchange.is_serving else weights
