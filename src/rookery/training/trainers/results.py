"""What a trainer pool keeps of its trainers' replies: their last whole state, and the report."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from numpy.typing import NDArray
from torch import nn

from rookery.learning import Learner, LearningConfig, LearnReport, LossMeans, RankStats, merge_ranks
from rookery.training.trainers.messages import Arrays, Learned

MIN_SECONDS = 1e-9
"""Keeps rates finite."""


class StateMirror:
    """The trainers' last whole state, and the averaged network that plays, which may be newer.

    Trainers send the averaged network after every goal, but the whole state only now and then. A
    state to continue from has the averaged network of its own update.
    """

    def __init__(self, learner: Learner) -> None:
        """`learner` holds the state and makes no updates of its own."""
        self._learner = learner
        self._play_arrays = learner.play_arrays()

    @property
    def updates(self) -> int:
        """Updates that the state contains."""
        return self._learner.updates

    @property
    def play_net(self) -> nn.Module:
        """The newest averaged network, for playing; it changes in place."""
        return self._learner.play_net

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the last whole state."""
        return {**self._learner.state(), **self._play_arrays}

    def keep(self, arrays: Arrays) -> None:
        """Take a new whole state."""
        self._learner.restore(arrays)
        self._play_arrays = self._learner.play_arrays()

    def play_with(self, arrays: Arrays) -> None:
        """Take a new averaged network."""
        self._learner.fill_play(arrays)


class TrainerReport:
    """Collects the replies of trainers, by number, for a report."""

    def __init__(self, config: LearningConfig) -> None:
        self._config = config
        self._replies: list[tuple[int, Learned]] = []
        self._losses = LossMeans(*[0.0] * len(fields(LossMeans)))
        self._learning_rate = 0.0

    def begin(self) -> None:
        """Forget the replies of the last report."""
        self._replies = []

    def add(self, number: int, reply: Learned) -> None:
        """Add a reply of trainer `number`."""
        self._replies.append((number, reply))

    def build(
        self, updates: int, *, rows_per_second: float, memory: Mapping[int, int]
    ) -> LearnReport:
        """Return the report; `memory` is the megabytes that each trainer uses."""
        if reports := [r.result.report for _, r in self._replies if r.result.report is not None]:
            self._losses = _mean_losses(reports)
            self._learning_rate = reports[-1].learning_rate
        stats = [_rank_stats(n, reply, memory.get(n, 0)) for n, reply in self._replies]
        return LearnReport(
            updates=updates,
            rows=updates * self._config.batch_size,
            losses=self._losses,
            learning_rate=self._learning_rate,
            rows_per_second=rows_per_second,
            ranks=merge_ranks(stats),
        )


def _mean_losses(reports: list[LearnReport]) -> LossMeans:
    """Return the mean losses, weighted by rows."""
    rows = sum(report.rows for report in reports)
    means = {
        field.name: sum(report.rows * getattr(report.losses, field.name) for report in reports)
        / rows
        for field in fields(LossMeans)
    }
    return LossMeans(**means)


def _rank_stats(number: int, reply: Learned, memory_mb: int) -> RankStats:
    report, traffic = reply.result.report, reply.result.traffic
    own_seconds = max(reply.result.seconds - traffic.blocked, MIN_SECONDS)
    all_seconds = max(reply.result.seconds + reply.idle_seconds, MIN_SECONDS)
    rows = report.rows if report else 0
    return RankStats(
        name=f"trainer {number}",
        device=reply.device,
        updates=report.updates if report else 0,
        rows=rows,
        rows_per_second=rows / own_seconds,
        communication=traffic.blocked / all_seconds,
        waited=reply.idle_seconds / all_seconds,
        sent_mb=traffic.sent / 2**20,
        memory_mb=memory_mb,
    )
