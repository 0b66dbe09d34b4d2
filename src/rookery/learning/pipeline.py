"""One net over several devices: every rank of a group holds consecutive layers, and no more.

A batch goes through the ranks in parts, one after another, as torch's pipeline schedules arrange
it; batch norm sees one part at a time. So a group computes what `Single` computes alone with as
many parts, and its gathered state is that of an unsplit learner, name by name.

Every rank calls the same methods in the same order with the same arguments; each waits for its
neighbours as long as the group's timeout.
"""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from rookery.base import ConfigError
from rookery.games import Game
from rookery.learning import state
from rookery.learning.average import decay
from rookery.learning.config import LearningConfig
from rookery.learning.learner import Learner
from rookery.learning.loss import Losses, Targets, measure_losses
from rookery.learning.precision import autocast, choose_precision
from rookery.learning.report import as_row
from rookery.learning.schedule import learning_rate
from rookery.learning.single import Single
from rookery.nets import NetPart, cut_net
from rookery.replay import Batch

FIRST = 0


class Pipeline(Single):
    """Computes the gradients of `part`, this rank's layers, in `accumulate` parts of a batch."""

    def __init__(
        self,
        part: NetPart,
        *,
        planes_shape: tuple[int, int, int],
        group: dist.ProcessGroup,
        accumulate: int,
        value_weight: float,
        precision: str,
    ) -> None:
        super().__init__(
            part, accumulate=accumulate, value_weight=value_weight, precision=precision
        )
        self.group = group
        self.rank, self.size = group.rank(), group.size()
        self._layers = _InPrecision(part, self.device, precision)
        self._between = (*planes_shape[1:], part.width)
        self._planes_shape = planes_shape
        self._rows = 0
        self._schedule: Any = None  # torch's schedules have no common public type
        self._targets: list[Targets] = []
        self._losses: list[Losses] = []

    def gradients(self, batch: Batch) -> Losses:
        """Set the part's gradients to those of the batch's mean loss; returns its means.

        The first rank reads the planes, the last the targets, the others the number of rows.
        """
        self.net.zero_grad(set_to_none=True)
        self._prepare(len(batch) // self.accumulate)
        self._losses = []
        planes, numbers = [], None
        if self.rank == FIRST:
            planes = [self._planes(batch)]
        if self.rank == self.size - 1:
            self._targets = [self._target(batch, rows) for rows in self._split(len(batch))]
            numbers = torch.arange(self.accumulate)
        self._schedule.step(*planes, target=numbers)
        return self._share_means()

    def _prepare(self, rows: int) -> None:
        """Make the schedule for parts of `rows` rows, unless it is there."""
        if rows == self._rows:
            return
        # Half of torch is imported with them, which only those who use them should wait for.
        from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe

        given, made = self._outlines(rows)
        stage = PipelineStage(
            self._layers,
            self.rank,
            self.size,
            self.device,
            input_args=given,
            output_args=made,
            group=self.group,
        )
        # One forward, one backward keeps fewer activations; torch has it from `size` parts on.
        kind = Schedule1F1B if self.accumulate >= self.size else ScheduleGPipe
        self._schedule = kind(stage, self.accumulate, loss_fn=self._loss, scale_grads=False)
        self._rows = rows

    def _outlines(self, rows: int) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Tensors without content, shaped like what the part is given and like what it makes.

        Without them torch would find out by a pass through the net, and disturb batch norm.
        """
        dtype = self._layers.dtype
        between = torch.empty(
            (rows, *self._between), dtype=dtype, device="meta", requires_grad=True
        )
        planes = torch.empty((rows, *self._planes_shape), device="meta")
        logits = torch.empty(rows, device="meta")  # never sent: that there are two is all
        given = planes if self.rank == FIRST else between
        return given, (logits, logits) if self.rank == self.size - 1 else (between,)

    def _loss(self, logits: tuple[Tensor, Tensor], number: Tensor) -> Tensor:
        """One part's share of the loss; torch cuts a single target, so it is the part's number."""
        targets = self._targets[int(number)]
        losses = measure_losses(*logits, targets=targets, value_weight=self.value_weight)
        self._losses.append(
            Losses(**{f.name: getattr(losses, f.name).detach() for f in fields(losses)})
        )
        return losses.total * (1 / self.accumulate)

    def _share_means(self) -> Losses:
        """The means over the parts, from the last rank to all."""
        names = [field.name for field in fields(Losses)]
        means = torch.zeros(len(names), device=self.device)
        for i, name in enumerate(names if self._losses else []):
            means[i] = torch.stack([getattr(part, name) for part in self._losses]).mean()
        dist.broadcast(means, src=_global(self.group, self.size - 1), group=self.group)
        return Losses(*means.unbind())

    def _planes(self, batch: Batch) -> Tensor:
        planes = self._tensor(batch.planes[: self._rows * self.accumulate])
        return planes.contiguous(memory_format=torch.channels_last)

    def _target(self, batch: Batch, rows: slice) -> Targets:
        return Targets(
            policy=self._tensor(batch.policy[rows]),
            legal=self._tensor(batch.legal[rows]),
            wdl=self._tensor(batch.wdl[rows]),
        )


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


class PipelineLearner(Learner):
    """A learner that holds its rank's part of `net`: its weights, average and moments.

    `net` is whole, the same on every rank and in the host's memory; the caller lets go of it.
    """

    def __init__(
        self,
        game: Game,
        net: nn.Module,
        *,
        config: LearningConfig,
        seed: int,
        group: dist.ProcessGroup,
        device: torch.device,
    ) -> None:
        if config.compiled:
            raise ConfigError(
                "learning.compiled is on, expected off where learning.method is pipeline"
            )
        precision = _agree_on_precision(game, net, config=config, group=group, device=device)
        part = cut_net(net, group.rank(), num_parts=group.size()).to(device)
        super().__init__(game, part, config=replace(config, precision=precision), seed=seed)
        self.group = group
        self._method = Pipeline(
            part,
            planes_shape=game.planes_shape,
            group=group,
            accumulate=config.accumulate,
            value_weight=config.value_weight,
            precision=precision,
        )

    def state(self) -> state.Arrays:
        """What an unsplit learner's state would be, on the first rank; nothing on the others."""
        whole: state.Arrays = {}
        for arrays in (
            state.net_arrays("net", self.net),
            state.net_arrays("play", self.play_net),
            state.optimizer_arrays(self._optimizer, self.net),
        ):
            whole |= gather_arrays(arrays, group=self.group)
        if self.group.rank() != FIRST:
            return {}
        whole["updates"] = np.array([self.updates], np.int64)
        whole["rows_owed"] = np.array([self.rows_owed], np.float64)
        return whole

    def whole_play_state(self) -> dict[str, Tensor]:
        """The `state_dict` of the whole averaged net, on the first rank; nothing on the others."""
        arrays = gather_arrays(state.net_arrays("play", self.play_net), group=self.group)
        return {name.removeprefix("play."): torch.from_numpy(arrays[name]) for name in arrays}

    def _step(self, batch: Batch, progress: float, *, is_last: bool) -> Tensor:
        """One update, as an unsplit learner makes it; the gradient's norm is the whole net's."""
        losses = self._method.gradients(batch)
        norm = clip_gradients(self.net, self.config.clip_norm, group=self.group)
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate(progress, self.updates, config=self.config)
        self._optimizer.step()
        self._average.follow(decay(self.updates, self.config.ema))
        self.updates += 1
        return as_row(losses, norm)


@torch.no_grad()
def clip_gradients(part: nn.Module, clip_norm: float, *, group: dist.ProcessGroup) -> Tensor:
    """Shorten the gradient of the whole net to `clip_norm`; returns how long it was."""
    weights = list(part.parameters())
    norm = get_total_norm([weight.grad for weight in weights if weight.grad is not None])
    squares = norm.square()
    dist.all_reduce(squares, group=group)
    norm = squares.sqrt()
    clip_grads_with_norm_(weights, clip_norm, norm)
    return norm


def split_arrays(arrays: state.Arrays, part: nn.Module) -> state.Arrays:
    """Of an unsplit learner's state, what the holder of `part` needs to restore."""
    own = part.state_dict().keys()

    def is_own(name: str) -> bool:
        section, _, weight = name.partition(".")
        if section == "optimizer":
            weight = weight.rpartition(".")[0]
        return not weight or weight in own

    return {name: array for name, array in arrays.items() if is_own(name)}


def gather_arrays(arrays: state.Arrays, *, group: dist.ProcessGroup) -> state.Arrays:
    """The arrays of all ranks, in their order, on the first; nothing on the others.

    They travel one by one: no device has to have room for more than the largest.
    """
    if group.rank() != FIRST:
        _send(arrays, group)
        return {}
    whole = dict(arrays)
    for rank in range(1, group.size()):
        whole |= _receive(rank, group)
    return whole


def _send(arrays: state.Arrays, group: dist.ProcessGroup) -> None:
    first, device = _global(group, FIRST), _wire_device(group)
    outlines = [(name, array.shape, array.dtype.str) for name, array in arrays.items()]
    dist.send_object_list([outlines], dst=first, group=group, device=device)
    for array in arrays.values():
        dist.send(torch.from_numpy(array).to(device), dst=first, group=group)


def _receive(rank: int, group: dist.ProcessGroup) -> state.Arrays:
    source, device = _global(group, rank), _wire_device(group)
    message: list[Any] = [None]
    dist.recv_object_list(message, src=source, group=group, device=device)
    arrays: dict[str, NDArray[Any]] = {}
    for name, shape, dtype in message[0]:
        tensor = torch.from_numpy(np.empty(shape, dtype)).to(device)
        dist.recv(tensor, src=source, group=group)
        arrays[name] = tensor.cpu().numpy()
    return arrays


def _agree_on_precision(
    game: Game,
    net: nn.Module,
    *,
    config: LearningConfig,
    group: dist.ProcessGroup,
    device: torch.device,
) -> str:
    """The first rank's choice. Being the group's first message, it also connects the ranks."""
    precision = config.precision
    if precision == "auto" and device.type == "cuda":
        precision = "bfloat16"
    elif group.rank() == FIRST:
        precision = choose_precision(
            precision,
            net,
            planes_shape=game.planes_shape,
            rows=config.batch_size // config.accumulate,
        )
    agreed = [precision]
    first, wire = _global(group, FIRST), _wire_device(group)
    dist.broadcast_object_list(agreed, src=first, group=group, device=wire)
    return agreed[0]


def _wire_device(group: dist.ProcessGroup) -> torch.device:
    """Where a group's messages have to lie."""
    is_nccl = dist.get_backend(group) == "nccl"
    return torch.device("cuda", torch.cuda.current_device()) if is_nccl else torch.device("cpu")


def _global(group: dist.ProcessGroup, rank: int) -> int:
    return dist.get_global_rank(group, rank)
