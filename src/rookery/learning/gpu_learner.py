"""Learning on a GPU: an update, from building the batch to averaging the weights, is one graph.

The host sets the learning rate, replays the graph, and reads the losses one call later, so that the
device never waits for the host.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import fields, replace
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from rookery.games import Game
from rookery.gpu import Graph, Stopwatch
from rookery.learning.config import LearningConfig
from rookery.learning.gradients import GradientComputer
from rookery.learning.learner import BaseLearner, Check
from rookery.learning.report import LearnReport, LossMeans, as_row, loss_means
from rookery.learning.schedule import ema_decay, learning_rate
from rookery.replay import Window


class GpuLearner(BaseLearner):
    """A learner whose network and window are on the same GPU."""

    def __init__(
        self,
        game: Game,
        net: nn.Module,
        *,
        config: LearningConfig,
        seed: int,
        on_smaller_parts: Callable[[LearningConfig], None] = lambda config: None,
    ) -> None:
        """`on_smaller_parts` is told the new settings when a batch must be computed in parts."""
        super().__init__(game, net, config=config, seed=seed)
        self._device = next(net.parameters()).device
        self._on_smaller_parts = on_smaller_parts
        self._rate = torch.zeros((), device=self._device)
        self._decay = torch.zeros((), device=self._device)
        self._sums = torch.zeros(len(fields(LossMeans)), device=self._device)
        self._card = torch.zeros(1, dtype=torch.int64, device=self._device)
        self._cards = torch.from_numpy(self._offsets).to(self._device)
        self._graph: Graph | None = None
        self._window: Window | None = None
        self._pending: Callable[[], LearnReport] | None = None
        self._finite_average = deepcopy(self._average.net)
        self._share_rate()

    @property
    def play_net(self) -> nn.Module:
        """The averaged network after the last call of `learn` whose losses were all finite."""
        return self._finite_average

    def learn(
        self, window: Window, num_updates: int, *, progress: float, check: Check = lambda: None
    ) -> LearnReport | None:
        """Enqueue updates from `window`; return the report of the call before, None at first."""
        report = self.drain()
        self._pending = self._enqueue(window, num_updates, progress)
        check()
        return report

    def drain(self) -> LearnReport | None:
        """Wait for the updates in flight; return their report, None if there are none."""
        pending, self._pending = self._pending, None
        return pending() if pending else None

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned; the graph is captured again."""
        super().restore(arrays)
        self._pending = self._graph = None
        self._keep_average(is_finite=torch.ones((), dtype=torch.bool, device=self._device))
        self._share_rate()

    def _enqueue(
        self, window: Window, num_updates: int, progress: float
    ) -> Callable[[], LearnReport]:
        if self._graph is None or window is not self._window:
            self._window = window
            self._graph = self._capture(progress)
        first, stopwatch = self.updates, Stopwatch(self._device)
        self._sums.zero_()
        self._card.fill_(self.updates * self.config.batch_size)
        for _ in range(num_updates):
            self._set_rates(progress)
            self._graph()
            self.updates += 1
        sums = self._sums.clone()
        self._keep_average(is_finite=sums.isfinite().all())
        rate = learning_rate(progress, self.updates - 1, config=self.config)
        stopwatch.stop()
        rows = num_updates * self.config.batch_size

        def report() -> LearnReport:
            return LearnReport(
                updates=num_updates,
                rows=rows,
                losses=loss_means(sums[None] / num_updates, first),
                learning_rate=rate,
                rows_per_second=rows / stopwatch.seconds(),
            )

        return report

    @torch.no_grad()
    def _keep_average(self, *, is_finite: Tensor) -> None:
        """Play with the new average if `is_finite`; decided on the device, which never waits."""
        new = self._average.net.state_dict()
        for name, kept in self._finite_average.state_dict().items():
            kept.copy_(torch.where(is_finite, new[name], kept))

    def _share_rate(self) -> None:
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate

    def _set_rates(self, progress: float) -> None:
        self._rate.fill_(learning_rate(progress, self.updates, config=self.config))
        self._decay.fill_(ema_decay(self.updates, self.config.ema))

    def _capture(self, progress: float) -> Graph:
        """Capture an update; those that this makes count. A batch that does not fit is split."""
        state = self.state()
        try:
            self._set_rates(progress)
            self._card.fill_(self.updates * self.config.batch_size)
            graph = Graph(self._update, self._device)
        except torch.cuda.OutOfMemoryError:
            if self.config.batch_size % (2 * self.config.accumulate):
                raise
            self._split_batch()
            self.restore(state)
            return self._capture(progress)
        self.updates += graph.calls
        return graph

    def _split_batch(self) -> None:
        """Compute batches in twice as many parts."""
        torch.cuda.empty_cache()
        self.config = replace(self.config, accumulate=2 * self.config.accumulate)
        self._gradients = GradientComputer(self.net, config=self.config, precision=self.precision)
        self._on_smaller_parts(self.config)

    def _update(self) -> None:
        assert self._window is not None
        batch = self._window.batch(
            self._card, self._cards, stream=self._stream, result_mix=self.config.result_mix
        )
        losses = self._gradients.gradients(batch)
        norm = clip_grad_norm_(self.net.parameters(), self.config.clip_norm)
        self._optimizer.step()
        self._average.update(self.net, self._decay)
        self._sums += as_row(losses, norm)
        self._card += self.config.batch_size
