"""The report of a trainer pool on what its trainers did."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import fields, replace

from rookery.learning import (
    LearningConfig,
    LearnReport,
    LossMeans,
    RankStats,
    merge_ranks,
    total_of,
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
        self._replies: list[tuple[int, Learned]] = []
        """Since the last report."""
        self._updates: Counter[int] = Counter()
        self._samples: Counter[int] = Counter()
        self._losses = LossMeans(*[0.0] * len(fields(LossMeans)))
        self._learning_rate = 0.0

    def begin(self) -> None:
        """Begin a new report; totals are kept."""
        self._replies = []

    def add(self, number: int, reply: Learned) -> None:
        """Add the reply of a trainer."""
        self._replies.append((number, reply))
        if report := reply.result.report:
            self._updates[number] += report.updates
            self._samples[number] += report.rows

    def build(
        self,
        updates: int,
        *,
        rows_per_second: float,
        workers: Mapping[int, WorkerStats],
        members: Collection[int],
    ) -> LearnReport:
        """Return the report on all `workers`; `members` are those that learn together now."""
        reports = [r.result.report for _, r in self._replies if r.result.report is not None]
        if reports:
            self._losses = weighted_losses(reports, [report.rows for report in reports])
            self._learning_rate = reports[-1].learning_rate
        ranks = [
            self._rank(number, worker, is_member=number in members)
            for number, worker in sorted(workers.items())
        ]
        return LearnReport(
            updates=updates,
            rows=updates * self.config.batch_size,
            losses=self._losses,
            learning_rate=self._learning_rate,
            rows_per_second=rows_per_second,
            ranks=tuple(ranks),
            total=total_of(ranks, updates=updates, rows_per_second=rows_per_second),
        )

    def _rank(self, number: int, worker: WorkerStats, *, is_member: bool) -> RankStats:
        """Return what a trainer did since the last report, and how it is."""
        stats = [_rank_stats(worker.name, reply) for n, reply in self._replies if n == number]
        (rank,) = merge_ranks(stats or [_idle(worker.name)])
        return replace(
            rank,
            total_updates=self._updates[number],
            samples=self._samples[number],
            memory_mb=worker.memory_mb,
            device_mb=worker.device_mb,
            state=worker.state,
            heartbeat_age=worker.heartbeat_age,
            failures=worker.failures,
            restarts=worker.restarts,
            fallback=not is_member,
        )


def _rank_stats(name: str, reply: Learned) -> RankStats:
    report, traffic = reply.result.report, reply.result.traffic
    own_seconds = max(reply.result.seconds - traffic.blocked, MIN_SECONDS)
    all_seconds = max(reply.result.seconds + reply.idle_seconds, MIN_SECONDS)
    rows, updates = (report.rows, report.updates) if report else (0, 0)
    return RankStats(
        name=name,
        device=reply.device,
        updates=updates,
        rows=rows,
        rows_per_second=rows / own_seconds,
        communication=traffic.blocked / all_seconds,
        waited=reply.idle_seconds / all_seconds,
        sent_mb=traffic.sent / 2**20,
        received_mb=traffic.received / 2**20,
        batch_ms=1000 * own_seconds / max(updates, 1),
        sync_ms=1000 * traffic.blocked / max(updates, 1),
        efficiency=own_seconds / all_seconds,
        rows_held=reply.rows_held,
    )


def _idle(name: str) -> RankStats:
    """Return the figures of a trainer that did nothing."""
    return RankStats(
        name, "", updates=0, rows=0, rows_per_second=0.0, communication=0.0, waited=0.0, sent_mb=0.0
    )
