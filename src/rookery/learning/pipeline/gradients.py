"""Gradients of one network over several devices: every rank holds some consecutive layers.

A batch passes through the ranks in parts, by torch's pipeline schedules; batch norm sees one part
at a time. So the ranks compute what `GradientComputer` computes alone with as many parts. Every
rank gets every batch: the first reads the planes, the last the targets, the others the number of
rows.
"""

from dataclasses import fields
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from rookery.learning.config import LearningConfig
from rookery.learning.gradients import RankGradients
from rookery.learning.loss import Losses, Targets, mean_losses, measure_losses
from rookery.learning.parallel.group import ROOT, ProcessGroup
from rookery.learning.precision import autocast
from rookery.nets import NetPart
from rookery.replay import Batch


class PipelineGradients(RankGradients):
    """Computes the gradients of `part`, this rank's layers, in `accumulate` parts of a batch."""

    def __init__(
        self,
        part: NetPart,
        *,
        planes_shape: tuple[int, int, int],
        num_actions: int,
        group: ProcessGroup,
        config: LearningConfig,
        precision: str,
    ) -> None:
        super().__init__(part, group=group, config=config, precision=precision)
        self._is_last = group.rank == group.size - 1
        self._passed_on = group.memory(self.device)
        """Where the tensors are that pass from rank to rank."""
        self._layers = _InPrecision(part, self.device, precision, passed_on=self._passed_on)
        self._between, self._steps = (*planes_shape[1:], part.width), part.steps or 1
        self._planes_shape, self._num_actions = planes_shape, num_actions
        self._rows = self._passed = 0
        self._stage: Any = None  # of a type whose import is slow
        self._schedule: Any = None
        self._part_targets: list[Targets] = []
        self._losses: list[Losses] = []

    def gradients(self, batch: Batch) -> Losses:
        """Set the part's gradients to those of the batch's mean loss; return the means."""
        self.net.zero_grad(set_to_none=True)
        self._prepare(len(batch) // self.accumulate)
        self._losses = []
        planes, numbers = [], None
        if self._group.rank == ROOT:
            planes = [self._tensor(batch.planes[: self._rows * self.accumulate])]
        if self._is_last:
            self._part_targets = [self._targets(batch, rows) for rows in self._split(batch)]
            numbers = torch.arange(self.accumulate)
        self._run(*planes, target=numbers)
        return self._share_means()

    def _run(self, *planes: Tensor, target: Tensor | None) -> None:
        """Run one step of the schedule; time not spent computing counts as waiting."""
        traffic, before = self._group.traffic, self._stage.seconds
        with self._group.waiting():
            self._schedule.step(*planes, target=target)
        traffic.blocked -= self._stage.seconds - before
        self._group.count(sent=self._passed, received=self._passed)

    def _prepare(self, rows: int) -> None:
        """Make the schedule for parts of `rows` rows, unless it exists."""
        if rows == self._rows:
            return
        from torch.distributed.pipelining import Schedule1F1B, ScheduleGPipe

        from rookery.learning.pipeline.stage import Stage

        inputs, outputs = self._outlines(rows)
        self._stage = Stage(
            self._layers,
            self._group.rank,
            self._group.size,
            self._passed_on,
            input_args=inputs,
            output_args=outputs,
        )
        # 1F1B keeps fewer activations; torch requires at least as many parts as stages for it.
        kind = Schedule1F1B if self.accumulate >= self._group.size else ScheduleGPipe
        self._schedule = kind(self._stage, self.accumulate, loss_fn=self._loss, scale_grads=False)
        self._rows = rows

    def _outlines(self, rows: int) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return meta tensors of the part's input and output.

        Without them torch would run the network to find the shapes, and disturb batch norm.
        """
        dtype, is_first = self._layers.dtype, self._group.rank == ROOT
        shape = (rows * self._steps, *self._between)
        between = torch.empty(shape, dtype=dtype, device="meta", requires_grad=True)
        # With each neighbour, activations are passed in one direction and gradients in the other.
        self._passed = between.nbytes * self.accumulate * ((not is_first) + (not self._is_last))
        planes = torch.empty((rows, *self._planes_shape), device="meta")
        logits = (
            torch.empty((rows, self._num_actions), device="meta"),
            torch.empty((rows, 3), device="meta"),
        )
        return planes if is_first else between, logits if self._is_last else (between,)

    def _loss(self, logits: tuple[Tensor, Tensor], number: Tensor) -> Tensor:
        """Return one part's share of the loss; torch passes the part's number as the target."""
        targets = self._part_targets[int(number)]
        losses = measure_losses(*logits, targets=targets, weights=self.loss_weights)
        self._losses.append(losses.detached())
        return losses.total * (1 / self.accumulate)

    def _share_means(self) -> Losses:
        """Send the means over the parts from the last rank to all."""
        names = [field.name for field in fields(Losses)]
        means = torch.zeros(len(names), device=self.device)
        if self._is_last:
            losses = mean_losses(self._losses)
            means = torch.stack([getattr(losses, name) for name in names])
        return Losses(*self._group.broadcast(means, self._group.size - 1).unbind())


class _InPrecision(nn.Module):
    """A part that computes on `device` in `precision`, and returns activations on `passed_on`.

    Logits are returned in float32.
    """

    def __init__(
        self, part: NetPart, device: torch.device, precision: str, *, passed_on: torch.device
    ) -> None:
        super().__init__()
        self.part = part
        self.dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
        self._device, self._precision, self._passed_on = device, precision, passed_on

    def forward(self, x: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        with autocast(self._device, self._precision):
            y: Tensor | tuple[Tensor, Tensor] = self.part(x.to(self._device))
        if isinstance(y, Tensor):
            return y.to(self._passed_on, self.dtype)
        policy, wdl = y
        return policy.float(), wdl.float()


@torch.no_grad()
def clip_gradients(part: nn.Module, clip_norm: float, *, group: ProcessGroup) -> Tensor:
    """Clip the norm of the whole network's gradient to `clip_norm`; return the norm before."""
    weights = list(part.parameters())
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    norm = get_total_norm(gradients) if gradients else torch.zeros((), device=weights[0].device)
    norm = group.all_reduce(norm.square().reshape(1)).sqrt()[0]
    clip_grads_with_norm_(weights, clip_norm, norm)
    return norm
