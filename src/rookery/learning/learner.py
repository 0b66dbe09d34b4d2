"""The learner: a network, its moving average that plays, and an optimizer.

On a CPU everything follows from the seed, the window and the number of updates, so that a learner
restored from its state continues bit for bit.
"""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_, convert_conv2d_weight_memory_format

from rookery.base import seeds
from rookery.games import Game
from rookery.learning import state as states
from rookery.learning.config import LearningConfig
from rookery.learning.ema import WeightEma, decay
from rookery.learning.gradients import GradientComputer
from rookery.learning.loss import Losses
from rookery.learning.precision import choose_precision
from rookery.learning.report import LearnReport, LossMeans, as_row, loss_means
from rookery.learning.schedule import learning_rate
from rookery.replay import Batch, Window, prefetch


class Gradients(Protocol):
    """Computes gradients, alone or together with other ranks."""

    steps: bool
    """Whether this process takes the optimizer's step."""
    share: float
    """Share of every batch that this process computes."""

    def gradients(self, batch: Batch) -> Losses:
        """Set the network's gradients to those of the batch's mean loss; return the means."""

    def settle(self, update: int, *, is_last: bool) -> None:
        """Do what is left after the step of `update`, the last one for now or not."""


class Learner:
    """Trains `net` on `game`, on the device that the network is on."""

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
        self._average = WeightEma(self.net)
        self._optimizer = _optimizer(self.net, config)
        self._gradients: Gradients = GradientComputer(
            self.net,
            accumulate=config.accumulate,
            value_weight=config.value_weight,
            precision=self.precision,
            compiled=config.compiled,
        )
        self._offsets = np.arange(config.batch_size)
        """Which rows of a batch this learner computes."""
        self._stream = seeds(1, seed, "batches")[0]

    @property
    def play_net(self) -> nn.Module:
        """The averaged net, for playing; it changes in place with every update."""
        return self._average.net

    def learn(
        self,
        window: Window,
        num_updates: int,
        *,
        progress: float,
        check: Callable[[], None] = lambda: None,
    ) -> LearnReport:
        """Make `num_updates` updates from `window`, `progress` (0 to 1) through the run.

        `check` is called after each one and may raise to stop.
        """
        if num_updates < 1:
            raise ValueError(f"num_updates is {num_updates}, expected 1 or more")
        begin, rows = time.perf_counter(), 0
        first, goal = self.updates, self.updates + num_updates
        steps = []
        with closing(self._batches(window, num_updates)) as batches:
            for batch in batches:
                steps.append(self._step(batch, progress, is_last=self.updates + 1 == goal))
                rows += len(batch)
                check()
        return LearnReport(
            updates=num_updates,
            rows=rows,
            losses=loss_means(torch.stack(steps), first),
            learning_rate=learning_rate(progress, self.updates - 1, config=self.config),
            rows_per_second=rows / (time.perf_counter() - begin),
        )

    def drain(self) -> LearnReport | None:
        """Return the report of updates still in flight: none, they are made at once."""
        return None

    def close(self) -> None:
        """Release what the learner holds: nothing."""

    def update(self, batch: Batch, progress: float) -> LossMeans:
        """Make one update from `batch`, `progress` (0 to 1) through the run."""
        return loss_means(self._step(batch, progress, is_last=True)[None], self.updates - 1)

    def state(self) -> states.Arrays:
        """Everything a new learner needs to go on, as named arrays."""
        return {
            **states.net_arrays("net", self.net),
            **self.play_arrays(),
            **states.optimizer_arrays(self._optimizer, self.net),
            "updates": np.array([self.updates], np.int64),
        }

    def play_arrays(self) -> states.Arrays:
        """The averaged net's part of the state."""
        return states.net_arrays("play", self.play_net)

    def fill_play(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take up the averaged net alone."""
        states.fill_net("play", self.play_net, arrays=arrays)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave."""
        states.fill_net("net", self.net, arrays=arrays)
        self.fill_play(arrays)
        self.updates = int(arrays["updates"][0])
        self._optimizer = _optimizer(self.net, self.config)
        if self.updates > 0:
            states.fill_optimizer(self._optimizer, self.net, arrays=arrays)

    def _batches(self, window: Window, num_updates: int) -> Generator[Batch, None, None]:
        """The batches of the next updates, each named by its update's number."""
        numbers = range(self.updates, self.updates + num_updates)
        return prefetch(self._batch(window, number) for number in numbers)

    def _batch(self, window: Window, number: int) -> Batch:
        """This learner's rows of the batch of update `number`."""
        batch = window.batch(
            np.array([number * self.config.batch_size]),
            self._offsets,
            stream=self._stream,
            result_mix=self.config.result_mix,
        )
        return batch.pinned() if next(self.net.parameters()).is_cuda else batch

    def _step(self, batch: Batch, progress: float, *, is_last: bool) -> Tensor:
        """One update; its `LossNumbers` as a tensor that need not have been computed yet."""
        losses = self._gradients.gradients(batch)
        norm = self._clip()
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate(progress, self.updates, config=self.config)
        if self._gradients.steps:
            self._optimizer.step()
        self._gradients.settle(self.updates, is_last=is_last)
        self._average.update(decay(self.updates, self.config.ema))
        self.updates += 1
        return as_row(losses, norm)

    def _clip(self) -> Tensor:
        """Shorten a gradient that is too long; returns how long it was."""
        return clip_grad_norm_(self.net.parameters(), self.config.clip_norm)


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
