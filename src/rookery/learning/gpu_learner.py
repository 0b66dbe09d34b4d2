"""Learning on a GPU beside self-play: updates are enqueued, and their losses read one call later.

So the device never waits for the host.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rookery.games import Game
from rookery.learning.captured import CapturedUpdates
from rookery.learning.config import LearningConfig
from rookery.learning.gradients import GradientComputer
from rookery.learning.learner import BaseLearner, Check
from rookery.learning.report import LearnReport
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
        self._on_smaller_parts = on_smaller_parts
        self._captured: CapturedUpdates | None = None
        self._pending: Callable[[], LearnReport] | None = None
        self._finite_average = deepcopy(self._average.net)

    @property
    def play_net(self) -> nn.Module:
        """The averaged network after the last call of `learn` whose losses were all finite."""
        return self._finite_average

    def learn(
        self, window: Window, num_updates: int, *, progress: float, check: Check = lambda: None
    ) -> LearnReport | None:
        """Enqueue updates from `window`; return the report of the call before, None at first."""
        report = self.drain()
        captured = self._captured
        if captured is None or captured.window is not window:
            self._captured = None  # two may not fit in memory
            self._captured = captured = self._capture(window)
        self._pending = captured.run(num_updates, progress)
        self._keep_average(is_finite=captured.sums.isfinite().all())
        check()
        return report

    def drain(self) -> LearnReport | None:
        """Wait for the updates in flight; return their report, None if there are none."""
        pending, self._pending = self._pending, None
        return pending() if pending else None

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned; updates are captured again."""
        super().restore(arrays)
        self._pending = self._captured = None
        self._finite_average.load_state_dict(self._average.net.state_dict())

    @torch.no_grad()
    def _keep_average(self, *, is_finite: Tensor) -> None:
        """Play with the new average if `is_finite`; decided on the device, which never waits."""
        new = self._average.net.state_dict()
        for name, kept in self._finite_average.state_dict().items():
            kept.copy_(torch.where(is_finite, new[name], kept))

    def _capture(self, window: Window) -> CapturedUpdates:
        """Capture updates; a batch that does not fit into memory is split."""
        try:
            return CapturedUpdates(self, window)
        except torch.cuda.OutOfMemoryError:
            if self.config.batch_size % (2 * self.config.accumulate):
                raise
        self._split_batch()
        return self._capture(window)

    def _split_batch(self) -> None:
        """Compute batches in twice as many parts."""
        torch.cuda.empty_cache()
        self.config = replace(self.config, accumulate=2 * self.config.accumulate)
        self._gradients = GradientComputer(self.net, config=self.config, precision=self.precision)
        self._on_smaller_parts(self.config)
