"""Gradients of one net over several devices: every rank holds consecutive layers, and no more.

A batch goes through the ranks in parts, one after another, as torch's pipeline schedules arrange
it; batch norm sees one part at a time. So a group computes what `Single` computes alone with as
many parts. Every rank takes every batch: the first reads the planes, the last the targets, the
others the number of rows.
"""

from dataclasses import fields
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from rookery.learning.config import LearningConfig
from rookery.learning.loss import Losses, Targets, mean_losses, measure_losses
from rookery.learning.member import Member
from rookery.learning.parallel.group import ROOT, ProcessGroup
from rookery.learning.precision import autocast
from rookery.nets import NetPart
from rookery.replay import Batch


class Pipeline(Member):
    """Computes the gradients of `part`, this rank's layers, in `accumulate` parts of a batch."""

    def __init__(
        self,
        part: NetPart,
        *,
        planes_shape: tuple[int, int, int],
        group: ProcessGroup,
        config: LearningConfig,
        precision: str,
    ) -> None:
        super().__init__(part, group=group, config=config, precision=precision)
        self._is_last = group.rank == group.size - 1
        self._layers = _InPrecision(part, self.device, precision)
        self._between = (*planes_shape[1:], part.width)
        self._planes_shape = planes_shape
        self._rows = self._sent = 0
        self._stage: Any = None  # its type is imported by those who need it only
        self._schedule: Any = None
        self._aims: list[Targets] = []
        self._losses: list[Losses] = []

    def gradients(self, batch: Batch) -> Losses:
        """Set the part's gradients to those of the batch's mean loss; returns its means."""
        self.net.zero_grad(set_to_none=True)
        self._prepare(len(batch) // self.accumulate)
        self._losses = []
        planes, numbers = [], None
        if self._group.rank == ROOT:
            planes = [self._planes(batch)]
        if self._is_last:
            self._aims = [self._targets(batch, rows) for rows in self._split(len(batch))]
            numbers = torch.arange(self.accumulate)
        self._run(*planes, target=numbers)
        return self._share_means()

    def _run(self, *planes: Tensor, target: Tensor | None) -> None:
        """One step of the schedule; what is not spent computing is spent waiting."""
        traffic, before = self._group.traffic, self._stage.seconds
        with self._group.speaking():
            self._schedule.step(*planes, target=target)
        traffic.blocked -= self._stage.seconds - before
        traffic.sent += self._sent

    def _prepare(self, rows: int) -> None:
        """Make the schedule for parts of `rows` rows, unless it is there."""
        if rows == self._rows:
            return
        from rookery.learning.pipeline.stage import Stage, new_schedule

        given, made = self._outlines(rows)
        self._stage = Stage(
            self._layers,
            self._group.rank,
            self._group.size,
            self.device,
            input_args=given,
            output_args=made,
        )
        self._schedule = new_schedule(self._stage, self.accumulate, self._loss)
        self._rows = rows

    def _outlines(self, rows: int) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Tensors without content, shaped like what the part is given and like what it makes.

        Without them torch would find out by a pass through the net, and disturb batch norm.
        """
        dtype, is_first = self._layers.dtype, self._group.rank == ROOT
        between = torch.empty(
            (rows, *self._between), dtype=dtype, device="meta", requires_grad=True
        )
        # Activations go to the next rank, gradients to the one before.
        self._sent = between.nbytes * self.accumulate * ((not is_first) + (not self._is_last))
        planes = torch.empty((rows, *self._planes_shape), device="meta")
        logits = torch.empty(rows, device="meta")  # never sent: that there are two is all
        given = planes if is_first else between
        return given, (logits, logits) if self._is_last else (between,)

    def _loss(self, logits: tuple[Tensor, Tensor], number: Tensor) -> Tensor:
        """One part's share of the loss; torch cuts a single target, so it is the part's number."""
        targets = self._aims[int(number)]
        losses = measure_losses(*logits, targets=targets, value_weight=self.value_weight)
        self._losses.append(losses.detached())
        return losses.total * (1 / self.accumulate)

    def _share_means(self) -> Losses:
        """The means over the parts, from the last rank to all."""
        names = [field.name for field in fields(Losses)]
        means = torch.zeros(len(names), device=self.device)
        if self._is_last:
            losses = mean_losses(self._losses)
            means = torch.stack([getattr(losses, name) for name in names])
        return Losses(*self._group.spread(means, self._group.size - 1).unbind())

    def _planes(self, batch: Batch) -> Tensor:
        planes = self._tensor(batch.planes[: self._rows * self.accumulate])
        return planes.contiguous(memory_format=torch.channels_last)


class _InPrecision(nn.Module):
    """A part that computes, and hands on, in `precision`."""

    def __init__(self, part: NetPart, device: torch.device, precision: str) -> None:
        super().__init__()
        self.part = part
        self.dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
        self._device, self._precision = device, precision

    def forward(self, x: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        with autocast(self._device, self._precision):
            y: Tensor | tuple[Tensor, Tensor] = self.part(x)
        return y.to(self.dtype) if isinstance(y, Tensor) else y


@torch.no_grad()
def clip_gradients(part: nn.Module, clip_norm: float, *, group: ProcessGroup) -> Tensor:
    """Shorten the gradient of the whole net to `clip_norm`; returns how long it was."""
    weights = list(part.parameters())
    norm = get_total_norm([weight.grad for weight in weights if weight.grad is not None])
    norm = group.sum(norm.square().reshape(1)).sqrt()[0]
    clip_grads_with_norm_(weights, clip_norm, norm)
    return norm
