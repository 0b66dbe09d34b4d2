"""A learner of one part of the network, and the rank that holds it as long as its group lasts.

All ranks call the same methods in the same order with the same arguments. The whole state is
assembled at the root, under the names of an unsplit learner's state.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rookery.games import Game
from rookery.learning import state as states
from rookery.learning.config import LearningConfig
from rookery.learning.learner import Learner
from rookery.learning.parallel.group import ProcessGroup, RankSpec, TrafficStats
from rookery.learning.parallel.rank import RankResult
from rookery.learning.pipeline.gradients import PipelineGradients, clip_gradients
from rookery.learning.pipeline.transfer import gather_arrays, scatter_arrays
from rookery.nets import split_net
from rookery.replay import Window


class PipelineLearner(Learner):
    """A learner that holds its rank's part of `net`: weights, average and optimizer moments.

    `net` is the whole network, equal on all ranks and in host memory; the caller should drop it.
    """

    def __init__(
        self,
        game: Game,
        net: nn.Module,
        *,
        config: LearningConfig,
        seed: int,
        group: ProcessGroup,
        device: torch.device,
    ) -> None:
        assert config.precision != "auto", "ranks have to agree"
        part = split_net(net, group.rank, num_parts=group.size).to(device)
        super().__init__(game, part, config=config, seed=seed)
        self._group = group
        self._gradients = PipelineGradients(
            part,
            planes_shape=game.planes_shape,
            num_actions=game.num_actions,
            group=group,
            config=config,
            precision=config.precision,
        )

    def state(self) -> states.Arrays:
        """Return the state of an unsplit learner, at the root; nothing elsewhere."""
        return gather_arrays(super().state(), group=self._group)

    def play_arrays(self) -> states.Arrays:
        """Return the whole averaged network's part of the state, at the root; nothing elsewhere."""
        return gather_arrays(super().play_arrays(), group=self._group)

    def _clip(self) -> Tensor:
        return clip_gradients(self.net, self.config.clip_norm, group=self._group)


class PipelineRank:
    """A rank of a pipeline; its part of the network may change with every group that it joins.

    `new_net` builds the whole network in host memory. No rank has the whole state, so each group
    continues from the whole state that its root was given.
    """

    def __init__(
        self,
        game: Game,
        new_net: Callable[[], nn.Module],
        *,
        config: LearningConfig,
        seed: int,
        device: torch.device,
    ) -> None:
        import rookery.learning.pipeline.stage  # noqa: F401  slow: import it before ranks wait

        self._game, self._new_net, self._config = game, new_net, config
        self._seed, self._device = seed, device
        self._given: Mapping[str, NDArray[Any]] = {}
        self._group: ProcessGroup | None = None
        self._learner: Learner | None = None

    @property
    def updates(self) -> int:
        """Updates made so far."""
        return self._learner.updates if self._learner else 0

    def set_learning_rate(self, peak: float) -> None:
        """Make the next updates with another peak learning rate."""
        self._config = replace(self._config, learning_rate=peak)
        if self._learner:
            self._learner.set_learning_rate(peak)

    def set_parts(self, accumulate: int) -> None:
        """Compute batches in `accumulate` parts, from the next group on."""
        self._config = replace(self._config, accumulate=accumulate)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Start the next group, as its root, with this state."""
        self._given = arrays

    def join(self, spec: RankSpec, source: int) -> None:
        """Form a group with the others; continue with a part of the state of rank `source`, 0."""
        self.leave()
        self._learner = None  # two may not fit in memory
        self._group = group = ProcessGroup(spec)
        net, size = self._new_net(), group.size
        parts = [split_net(net, rank, num_parts=size) for rank in range(size)]
        own = scatter_arrays(self._given, parts, group=group)
        self._given, self._learner = {}, self._new_learner(net, group)
        self._learner.restore(own)

    def leave(self) -> None:
        """Leave the group, so that no rank waits for this one."""
        if self._group is not None:
            self._group.close()
            self._group = None

    def learn_until(self, window: Window, goal: int, *, progress: float) -> RankResult:
        """Make all updates below number `goal`; the rows are counted in equal shares."""
        learner, group = self._held()
        group.traffic, begin, report = TrafficStats(), time.perf_counter(), None
        if learner.updates < goal:
            report = learner.learn(window, goal - learner.updates, progress=progress)
            report = replace(report, rows=report.rows // group.size)
        return RankResult(report, time.perf_counter() - begin, group.traffic)

    def whole_state(self) -> states.Arrays:
        """Return what a new learner needs to continue, at the root; nothing elsewhere."""
        return self._held()[0].state()

    def whole_play(self) -> states.Arrays:
        """Return the averaged network's part of the state, at the root; nothing elsewhere."""
        return self._held()[0].play_arrays()

    def _held(self) -> tuple[Learner, ProcessGroup]:
        assert self._learner is not None and self._group is not None
        return self._learner, self._group

    def _new_learner(self, net: nn.Module, group: ProcessGroup) -> Learner:
        """Return a learner of this rank's part; of the whole network if it is the only rank."""
        config, seed = self._config, self._seed
        if group.size == 1:
            return Learner(self._game, net.to(self._device), config=config, seed=seed)
        return PipelineLearner(
            self._game, net, config=config, seed=seed, group=group, device=self._device
        )
