"""The learner: a net, its averaged twin that plays, an optimizer, and what it owes to new rows.

On a CPU everything follows from the seed, the window and the updates done so far, so that a
learner restored from its state goes on bit for bit.
"""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_, convert_conv2d_weight_memory_format

from rookery.base import RookeryError, generator
from rookery.games import Game
from rookery.learning import state
from rookery.learning.average import Average, decay
from rookery.learning.config import LearningConfig
from rookery.learning.loss import Losses
from rookery.learning.precision import choose_precision
from rookery.learning.schedule import learning_rate
from rookery.learning.single import Single
from rookery.replay import Batch, Window, prefetch, sample


class LearningDiverged(RookeryError):
    """A loss or gradient that is no longer a number."""


class Method(Protocol):
    """Who computes gradients."""

    def gradients(self, batch: Batch) -> Losses:
        """Set the net's gradients to those of the batch's mean loss; returns its means."""
        ...


@dataclass(frozen=True)
class LossNumbers:
    """Means over rows; the fields of `Losses` as numbers, and the gradient's norm."""

    total: float
    policy: float
    value: float
    policy_kl: float
    policy_accuracy: float
    value_accuracy: float
    gradient_norm: float
    """Before it was clipped."""


@dataclass(frozen=True)
class LearnReport:
    """What one call of `Learner.learn` did."""

    updates: int
    rows: int
    losses: LossNumbers
    """Means over the updates."""
    learning_rate: float
    """Of the last update."""
    rows_per_second: float


class Learner:
    """Learns `game` with `net`, on the device that the net is on."""

    def __init__(self, game: Game, net: nn.Module, *, config: LearningConfig, seed: int) -> None:
        self.game = game
        self.config = config
        self.seed = seed
        self.net = convert_conv2d_weight_memory_format(net, torch.channels_last).train()
        self.precision = choose_precision(
            config.precision,
            self.net,
            planes_shape=game.planes_shape,
            rows=config.batch_size // config.accumulate,
        )
        self.updates = 0
        self.rows_owed = 0.0
        self._average = Average(self.net)
        self._optimizer = _optimizer(self.net, config)
        self._method: Method = Single(
            self.net,
            accumulate=config.accumulate,
            value_weight=config.value_weight,
            precision=self.precision,
            compiled=config.compiled,
        )

    @property
    def play_net(self) -> nn.Module:
        """The averaged net, for playing; it changes in place with every update."""
        return self._average.net

    def owe(self, new_rows: int) -> int:
        """The whole updates due for `new_rows` more rows; the rest is owed until next time."""
        self.rows_owed += self.config.reuse * new_rows
        due = int(self.rows_owed // self.config.batch_size)
        self.rows_owed -= due * self.config.batch_size
        return due

    def learn(
        self,
        window: Window,
        num_updates: int,
        *,
        progress: float,
        check: Callable[[], None] = lambda: None,
    ) -> LearnReport:
        """Make at least one update from `window`, `progress` (0 to 1) through the run.

        `check` is called after each and may raise to stop.
        """
        if num_updates < 1:
            raise ValueError(f"num_updates is {num_updates}, expected 1 or more")
        begin = time.perf_counter()
        first = self.updates
        steps = []
        with closing(self._batches(window, num_updates)) as batches:
            for batch in batches:
                steps.append(self._step(batch, progress))
                check()
        losses = loss_numbers(torch.stack(steps), first)
        rows = num_updates * self.config.batch_size
        return LearnReport(
            updates=num_updates,
            rows=rows,
            losses=losses,
            learning_rate=learning_rate(progress, self.updates - 1, config=self.config),
            rows_per_second=rows / (time.perf_counter() - begin),
        )

    def update(self, batch: Batch, progress: float) -> LossNumbers:
        """Make one update from `batch`, `progress` (0 to 1) through the run."""
        return loss_numbers(self._step(batch, progress)[None], self.updates - 1)

    def state(self) -> state.Arrays:
        """Everything a new learner needs to go on, as named arrays."""
        return {
            **state.net_arrays("net", self.net),
            **state.net_arrays("play", self.play_net),
            **state.optimizer_arrays(self._optimizer, self.net),
            "updates": np.array([self.updates], np.int64),
            "rows_owed": np.array([self.rows_owed], np.float64),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave."""
        state.fill_net("net", self.net, arrays=arrays)
        state.fill_net("play", self.play_net, arrays=arrays)
        self.updates = int(arrays["updates"][0])
        self.rows_owed = float(arrays["rows_owed"][0])
        self._optimizer = _optimizer(self.net, self.config)
        if self.updates > 0:
            state.fill_optimizer(self._optimizer, self.net, arrays=arrays)

    def _batches(self, window: Window, num_updates: int) -> Generator[Batch, None, None]:
        """The batches of the next updates, each named by its update's number."""
        numbers = range(self.updates, self.updates + num_updates)
        return prefetch(
            sample(
                window,
                generator(self.seed, "sample", number),
                batch_size=self.config.batch_size,
                result_mix=self.config.result_mix,
            )
            for number in numbers
        )

    def _step(self, batch: Batch, progress: float) -> Tensor:
        """One update; its `LossNumbers` as a tensor that need not have been computed yet."""
        losses = self._method.gradients(batch)
        norm = clip_grad_norm_(self.net.parameters(), self.config.clip_norm)
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate(progress, self.updates, config=self.config)
        self._optimizer.step()
        self._average.follow(decay(self.updates, self.config.ema))
        self.updates += 1
        return as_row(losses, norm)


def _optimizer(net: nn.Module, config: LearningConfig) -> torch.optim.AdamW:
    """AdamW; biases and the scales of norms do not decay."""
    matrices = [weight for weight in net.parameters() if weight.ndim >= 2]
    vectors = [weight for weight in net.parameters() if weight.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": config.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(
        groups, lr=config.learning_rate, fused=True, capturable=matrices[0].is_cuda
    )


def merge_reports(reports: Sequence[LearnReport]) -> LearnReport:
    """What at least one call of `learn` did, all of them together."""
    updates = sum(report.updates for report in reports)
    rows = sum(report.rows for report in reports)
    means = {
        field.name: sum(r.updates * getattr(r.losses, field.name) for r in reports) / updates
        for field in fields(LossNumbers)
    }
    return LearnReport(
        updates=updates,
        rows=rows,
        losses=LossNumbers(**means),
        learning_rate=reports[-1].learning_rate,
        rows_per_second=rows / sum(r.rows / r.rows_per_second for r in reports),
    )


def as_row(losses: Losses, norm: Tensor) -> Tensor:
    """The fields of `LossNumbers` as a tensor that need not have been computed yet."""
    return torch.stack([*(getattr(losses, field.name) for field in fields(losses)), norm])


def loss_numbers(steps: Tensor, first: int) -> LossNumbers:
    """Means over steps [n, fields], the first of them update number `first`."""
    table = steps.double().cpu().numpy()
    broken = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(broken):
        names = [field.name for field in fields(LossNumbers)]
        values = dict(zip(names, table[broken[0]].tolist(), strict=True))
        raise LearningDiverged(
            f"update {first + broken[0]} gave {values}, expected finite numbers; "
            "resume from the last checkpoint with a lower learning.learning_rate"
        )
    return LossNumbers(*table.mean(axis=0).tolist())
