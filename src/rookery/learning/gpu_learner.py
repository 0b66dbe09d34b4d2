"""Learning on a GPU: an update, from drawing the batch to averaging the weights, is one graph.

The host sets the rates, replays the graph, and reads the losses when they are wanted.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.utils import clip_grad_norm_

from rookery.games import Game
from rookery.gpu import Graph, Stopwatch
from rookery.learning.config import LearningConfig
from rookery.learning.ema import decay
from rookery.learning.learner import Learner
from rookery.learning.report import LearnReport, LossMeans, as_row, loss_means
from rookery.learning.schedule import learning_rate
from rookery.replay import DeviceWindow


class GpuLearner(Learner):
    """A learner whose net and window are on the same GPU."""

    def __init__(
        self,
        game: Game,
        net: nn.Module,
        *,
        config: LearningConfig,
        seed: int,
        window: DeviceWindow,
    ) -> None:
        super().__init__(game, net, config=config, seed=seed)
        self._window, self._device = window, window.device
        self._rate = torch.zeros((), device=self._device)
        self._keep = torch.zeros((), device=self._device)
        self._sums = torch.zeros(len(fields(LossMeans)), device=self._device)
        self._graph: Graph | None = None
        self._share_rate()

    def enqueue(self, num_updates: int, *, progress: float) -> Callable[[], LearnReport]:
        """Enqueue updates from the window; call what is returned to wait for their report."""
        if self._graph is None:
            self._capture(progress)
        assert self._graph is not None
        first, watch = self.updates, Stopwatch(self._device)
        self._sums.zero_()
        for _ in range(num_updates):
            self._set_rates(progress)
            self._graph()
            self.updates += 1
        sums, rate = (
            self._sums.clone(),
            learning_rate(progress, self.updates - 1, config=self.config),
        )
        watch.stop()
        rows = num_updates * self.config.batch_size

        def report() -> LearnReport:
            return LearnReport(
                updates=num_updates,
                rows=rows,
                losses=loss_means(sums[None] / num_updates, first),
                learning_rate=rate,
                rows_per_second=rows / watch.seconds(),
            )

        return report

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave; the graph is captured again."""
        super().restore(arrays)
        self._graph = None
        self._share_rate()

    def _share_rate(self) -> None:
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate

    def _set_rates(self, progress: float) -> None:
        self._rate.fill_(learning_rate(progress, self.updates, config=self.config))
        self._keep.fill_(decay(self.updates, self.config.ema))

    def _capture(self, progress: float) -> None:
        """Capture an update; the few that this takes are made at the present rate, and count."""
        self._set_rates(progress)
        self._graph = Graph(self._update, self._device)
        self.updates += self._graph.calls

    def _update(self) -> None:
        batch = self._window.draw(self.config.batch_size, result_mix=self.config.result_mix)
        losses = self._method.gradients(batch)
        norm = clip_grad_norm_(self.net.parameters(), self.config.clip_norm)
        self._optimizer.step()
        self._average.follow(self._keep)
        self._sums += as_row(losses, norm)
