"""The learner: a network, its moving average that plays, and an optimizer.

On a CPU everything follows from the seed, the window and the number of updates, so that a learner
restored from its state continues bit for bit.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_, convert_conv2d_weight_memory_format

from rookery.base import FileDamaged, keep_freed_memory, seeds
from rookery.games import Game
from rookery.learning import state as states
from rookery.learning.config import LearningConfig
from rookery.learning.gradients import GradientComputer
from rookery.learning.optimizer import NetOptimizer
from rookery.learning.precision import choose_precision
from rookery.learning.report import LearnReport, LossMeans, as_row, loss_means
from rookery.learning.schedule import ema_decay, learning_rate
from rookery.nets import freeze, frozen_tensors
from rookery.replay import Batch, Window, prefetch

MOST_UPDATES = 2**48
Check = Callable[[], None]
"""Is called while a learner works, and may raise to stop it."""


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


class BaseLearner(ABC):
    """Everything that learners have in common, on the device that the network is on."""

    def __init__(self, game: Game, net: nn.Module, *, config: LearningConfig, seed: int) -> None:
        keep_freed_memory()
        self.game, self.config, self.seed = game, config, seed
        self.net = convert_conv2d_weight_memory_format(net, torch.channels_last).train()
        freeze(self.net, config.frozen)
        rows = config.batch_size // config.accumulate
        self.precision = choose_precision(
            config.precision, self.net, planes_shape=game.planes_shape, rows=rows
        )
        self.updates = 0
        self._average = WeightEma(self.net)
        self._optimizer = self._new_optimizer()
        self._gradients = GradientComputer(self.net, config=config, precision=self.precision)
        self.offsets = np.arange(config.batch_size)
        """Which rows of a batch this learner computes."""
        self.stream = seeds(1, seed, "batches")[0]
        """The random stream of its batches."""

    @property
    def play_net(self) -> nn.Module:
        """The averaged network, for playing; it changes in place with every update."""
        return self._average.net

    @abstractmethod
    def drain(self) -> LearnReport | None:
        """Wait for updates in flight; return their report, None if there are none."""

    def set_learning_rate(self, peak: float) -> None:
        """Make the next updates with another peak learning rate."""
        self.config = replace(self.config, learning_rate=peak)

    def set_rate(self, rate: float | Tensor) -> None:
        """Set the learning rate of the next step."""
        self._optimizer.set_rate(rate)

    def step(self, batch: Batch) -> Tensor:
        """Change the weights by one step; return `LossMeans` as a tensor, maybe not yet there."""
        losses = self._gradients.gradients(batch)
        norm = self._clip()
        if self._gradients.steps:
            self._optimizer.step()
        return as_row(losses, norm)

    def settle(self, *, is_last: bool) -> None:
        """Do what is left after a step, with other ranks; `is_last` if no other update follows."""
        self._gradients.settle(self.updates, is_last=is_last)

    def follow(self, decay: float | Tensor) -> None:
        """Move the average towards the weights."""
        self._average.update(self.net, decay)

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Undo, at the end, all changes of weights, average and optimizer, in place."""
        before = {name: tensor.clone() for name, tensor in self._tensors().items()}
        try:
            yield
        finally:
            with torch.no_grad():
                for name, tensor in self._tensors().items():
                    tensor.copy_(before[name]) if name in before else tensor.zero_()

    def state(self) -> states.Arrays:
        """Return everything that a new learner needs to continue, as named arrays."""
        return states.to_arrays(self._tensors()) | {"updates": np.array([self.updates], np.int64)}

    def play_arrays(self) -> states.Arrays:
        """Return the averaged network's part of the state."""
        return states.to_arrays(states.net_tensors("play", self._average.net))

    def fill_play(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the averaged network alone."""
        states.fill_net("play", self._average.net, arrays=arrays)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned, or FileDamaged."""
        states.fill_net("net", self.net, arrays=arrays)
        self.fill_play(arrays)
        self._fix_frozen()
        updates = torch.zeros(1, dtype=torch.int64)
        states.fill(updates, "updates", arrays)
        self.updates = int(updates)
        if not 0 <= self.updates < MOST_UPDATES:
            raise FileDamaged(f"the learner has made {self.updates} updates; restore it")
        self._optimizer = self._new_optimizer()
        if self.updates > 0:
            self._optimizer.fill(arrays)
        known = BaseLearner.state(self).keys() | self._optimizer.possible_names()
        if unknown := arrays.keys() - known:
            raise FileDamaged(f"the learner has no {min(unknown)}; restore it from a copy")

    def _tensors(self) -> dict[str, Tensor]:
        """Return all tensors that updates change."""
        return {
            **states.net_tensors("net", self.net),
            **states.net_tensors("play", self._average.net),
            **self._optimizer.tensors(),
        }

    def _new_optimizer(self) -> NetOptimizer:
        return NetOptimizer(
            self.net,
            name=self.config.optimizer,
            learning_rate=self.config.learning_rate,
            weight_decay=self.config.weight_decay,
        )

    def _clip(self) -> Tensor:
        """Scale down a gradient whose norm is too large; return the norm before."""
        return clip_grad_norm_(self.net.parameters(), self.config.clip_norm)

    def _fix_frozen(self) -> None:
        """Set frozen parts to their average, the part that plays: both stay the same from now."""
        own, play = self.net.state_dict(), self._average.net.state_dict()
        for name in frozen_tensors(self.net, self.config.frozen):
            own[name].copy_(play[name])


class Learner(BaseLearner):
    """Makes each update at once; network and window may be in host memory or on a GPU."""

    def learn(
        self, window: Window, num_updates: int, *, progress: float, check: Check = lambda: None
    ) -> LearnReport:
        """Make updates from `window`, `progress` (0 to 1) through the run; `check` after each."""
        if num_updates < 1:
            raise ValueError(f"num_updates is {num_updates}, expected 1 or more")
        begin, rows = time.perf_counter(), 0
        first, goal = self.updates, self.updates + num_updates
        steps = []
        drawn = (self._batch(window, number) for number in range(first, goal))
        depth = 0 if window.device.type == "cuda" else self.config.prefetch
        with closing(prefetch(drawn, depth)) as batches:
            for batch in batches:
                steps.append(self._update(batch, progress, is_last=self.updates + 1 == goal))
                rows += len(batch)
                check()
        return LearnReport(
            updates=num_updates,
            rows=rows,
            losses=loss_means(torch.stack(steps), first),
            learning_rate=learning_rate(progress, self.updates - 1, config=self.config),
            rows_per_second=rows / (time.perf_counter() - begin),
        )

    def drain(self) -> None:
        """Return at once: no updates are in flight."""

    def update(self, batch: Batch, progress: float) -> LossMeans:
        """Make one update from `batch`, `progress` (0 to 1) through the run."""
        return loss_means(self._update(batch, progress, is_last=True)[None], self.updates - 1)

    def _batch(self, window: Window, number: int) -> Batch:
        """Return this learner's rows of the batch of update `number`."""
        card, stream = number * self.config.batch_size, self.stream
        offsets = window.own_offsets(card, self.offsets, stream=stream)
        batch = window.batch(
            np.array([card]), offsets, stream=stream, result_mix=self.config.result_mix
        )
        if window.is_part:
            sizes = np.bincount(offsets // self._part_rows, minlength=self.config.accumulate)
            batch = replace(batch, parts=tuple(sizes.tolist()))
        moves = next(self.net.parameters()).is_cuda and not batch.planes.is_cuda
        return batch.pinned() if moves and self.config.pin_memory else batch

    @property
    def _part_rows(self) -> int:
        return self.config.batch_size // self.config.accumulate

    def _update(self, batch: Batch, progress: float, *, is_last: bool) -> Tensor:
        """Make one update; return its `LossMeans` as a tensor that may still be computed."""
        self.set_rate(learning_rate(progress, self.updates, config=self.config))
        means = self.step(batch)
        self.settle(is_last=is_last)
        self.follow(ema_decay(self.updates, self.config.ema))
        self.updates += 1
        return means
