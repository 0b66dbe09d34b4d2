"""The report of a trainer pool on what its trainers did."""

from collections.abc import Mapping
from dataclasses import fields

from rookery.learning import (
    LearningConfig,
    LearnReport,
    LossMeans,
    RankStats,
    merge_ranks,
    weighted_losses,
)
from rookery.training.trainers.messages import Learned
from rookery.workers import WorkerStats

MIN_SECONDS = 1e-9
"""Keeps rates finite."""


class TrainerReport:
    """Collects the replies of trainers, by number, for a report."""

    def __init__(self, config: LearningConfig) -> None:
        self.config = config
        self.replies: list[tuple[int, Learned]] = []
        """Since the last report."""
        self._losses = LossMeans(*[0.0] * len(fields(LossMeans)))
        self._learning_rate = 0.0

    def build(
        self, updates: int, *, rows_per_second: float, workers: Mapping[int, WorkerStats]
    ) -> LearnReport:
        """Return the report; `workers` is what the pool knows about each trainer."""
        if reports := [r.result.report for _, r in self.replies if r.result.report is not None]:
            self._losses = weighted_losses(reports, [report.rows for report in reports])
            self._learning_rate = reports[-1].learning_rate
        stats = [_rank_stats(n, reply, workers.get(n)) for n, reply in self.replies]
        return LearnReport(
            updates=updates,
            rows=updates * self.config.batch_size,
            losses=self._losses,
            learning_rate=self._learning_rate,
            rows_per_second=rows_per_second,
            ranks=merge_ranks(stats),
        )


def _rank_stats(number: int, reply: Learned, worker: WorkerStats | None) -> RankStats:
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
        memory_mb=worker.memory_mb if worker else 0,
        device_mb=worker.device_mb if worker else 0,
    )
