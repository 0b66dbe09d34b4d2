"""Updates on a GPU, from building the batch to averaging the weights, as captured graphs.

The host sets the learning rate and replays the graphs; it waits for the device only when the report
is read.
"""

from collections.abc import Callable
from dataclasses import fields

import torch

from rookery.gpu import Graph, Stopwatch
from rookery.learning.learner import BaseLearner
from rookery.learning.report import LearnReport, LossMeans, loss_means
from rookery.learning.schedule import ema_decay, learning_rate
from rookery.replay import Window


class CapturedUpdates:
    """The updates of a learner from a window on the same device.

    Capturing makes updates, too; they are undone. Ranks may exchange weights between the step of an
    update and the moving average that follows it, so these are two graphs.
    """

    def __init__(self, learner: BaseLearner, window: Window) -> None:
        self.window = window
        self._learner = learner
        device = window.device
        self._rate, self._decay = torch.zeros(2, device=device).unbind()
        self._card = torch.zeros(1, dtype=torch.int64, device=device)
        self._offsets = torch.from_numpy(learner.offsets).to(device)
        self.sums = torch.zeros(len(fields(LossMeans)), device=device)
        """Of the losses over the last updates."""
        learner.set_rate(self._rate)
        with learner.undone():
            self._step = Graph(self._make_step, device)
            self._follow = Graph(self._average, device)

    def run(self, num_updates: int, progress: float) -> Callable[[], LearnReport]:
        """Enqueue updates; return a function that waits for them and returns their report."""
        learner, config = self._learner, self._learner.config
        first, stopwatch = learner.updates, Stopwatch(self.window.device)
        self.sums.zero_()
        self._card.fill_(first * config.batch_size)
        for left in reversed(range(num_updates)):
            self._rate.fill_(learning_rate(progress, learner.updates, config=config))
            self._decay.fill_(ema_decay(learner.updates, config.ema))
            self._step()
            learner.settle(is_last=left == 0)
            self._follow()
            learner.updates += 1
        sums = self.sums.clone()
        rate = learning_rate(progress, learner.updates - 1, config=config)
        stopwatch.stop()
        rows = num_updates * len(self._offsets)

        def report() -> LearnReport:
            return LearnReport(
                updates=num_updates,
                rows=rows,
                losses=loss_means(sums[None] / num_updates, first),
                learning_rate=rate,
                rows_per_second=rows / stopwatch.seconds(),
            )

        return report

    def _make_step(self) -> None:
        config = self._learner.config
        batch = self.window.batch(
            self._card, self._offsets, stream=self._learner.stream, result_mix=config.result_mix
        )
        self.sums += self._learner.step(batch)
        self._card += config.batch_size

    def _average(self) -> None:
        self._learner.follow(self._decay)
