"""Gradients of a batch, computed in parts on the network's device."""

import shutil
from contextlib import AbstractContextManager, nullcontext
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor, nn

from rookery.base import ConfigError
from rookery.learning.config import LearningConfig
from rookery.learning.loss import Losses, Targets, mean_losses, measure_losses
from rookery.learning.parallel.group import ProcessGroup
from rookery.learning.precision import autocast
from rookery.replay import Batch

COMPILERS = ("g++", "c++", "clang++", "clang")


class GradientComputer:
    """Computes gradients of `net` in `config.accumulate` parts of a batch."""

    steps = True
    """Whether this process takes the optimizer's step."""
    share = 1.0
    """Share of the batches that this process computes, on average."""

    def __init__(self, net: nn.Module, *, config: LearningConfig, precision: str) -> None:
        self.net = net
        if config.compiled and not any(map(shutil.which, COMPILERS)):
            need = f"a C++ compiler ({COMPILERS[0]})"
            raise ConfigError(f"learning.compiled needs {need}; install it")
        self._forward: Any = torch.compile(net, dynamic=False) if config.compiled else net
        self.accumulate = config.accumulate
        self.loss_weights = config.loss_weights()
        self.precision = precision
        self.device = next(net.parameters()).device

    def gradients(self, batch: Batch) -> Losses:
        """Set the parameters' gradients to those of the batch's mean loss; return the means."""
        return self._weighted(batch, 1.0)

    def settle(self, update: int, *, is_last: bool) -> None:
        """Do what is left after the step of `update`: nothing, without other ranks."""

    def close(self) -> None:
        """Undo what this object has changed in the network: nothing, without other ranks."""

    def _weighted(self, batch: Batch, weight: float) -> Losses:
        """Set the gradients to `weight` times those of the batch's mean loss."""
        self.net.zero_grad(set_to_none=True)
        parts = []
        for number, rows in enumerate(self._split(batch), start=1):
            share = (rows.stop - rows.start) / len(batch) if len(batch) else 0.0
            with self._part_context(number == self.accumulate):
                parts.append(self._part(batch, rows, weight * share))
        return mean_losses(parts, batch.parts)

    def _split(self, batch: Batch) -> list[slice]:
        sizes = batch.parts or [len(batch) // self.accumulate] * self.accumulate
        return [slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True)]

    def _part_context(self, is_last: bool) -> AbstractContextManager[Any]:
        return nullcontext()

    def _part(self, batch: Batch, rows: slice, weight: float) -> Losses:
        """Add the gradients of one part, times `weight`."""
        planes = self._tensor(batch.planes[rows]).contiguous(memory_format=torch.channels_last)
        with autocast(self.device, self.precision):
            logits = self._forward(planes)
        losses = measure_losses(
            *logits, targets=self._targets(batch, rows), weights=self.loss_weights
        )
        torch.autograd.backward(losses.total * weight)
        return losses.detached()

    def _targets(self, batch: Batch, rows: slice) -> Targets:
        columns = (batch.policy, batch.legal, batch.wdl)
        return Targets(*(self._tensor(column[rows]) for column in columns))

    def _tensor(self, column: Tensor) -> Tensor:
        return column.to(self.device, non_blocking=True)


class RankGradients(GradientComputer):
    """Computes gradients together with the other ranks of `group`."""

    def __init__(
        self, net: nn.Module, *, group: ProcessGroup, config: LearningConfig, precision: str
    ) -> None:
        super().__init__(net, config=config, precision=precision)
        self._group, self._batch_size = group, config.batch_size
