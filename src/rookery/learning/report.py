"""What learning reports: mean losses, and what each rank did."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite
from operator import mul
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rookery.base import RookeryError
from rookery.learning.loss import Losses

TIME_SHARES = ("communication", "waited", "efficiency")
SUMS = (
    "rows",
    "rows_per_second",
    "samples",
    "sent_mb",
    "received_mb",
    "memory_mb",
    "device_mb",
    "failures",
    "restarts",
    "rows_held",
)
"""Figures of ranks that are added up."""


class LearningDiverged(RookeryError):
    """A loss or gradient is not finite."""


@dataclass(frozen=True)
class LossMeans:
    """Means over rows; the fields of `Losses` as numbers, and the gradient's norm."""

    total: float
    policy: float
    value: float
    policy_kl: float
    policy_accuracy: float
    value_accuracy: float
    gradient_norm: float
    """Before it was clipped."""


@dataclass(frozen=True)
class RankStats:
    """What one of several ranks did."""

    name: str
    device: str
    updates: int
    rows: int
    rows_per_second: float
    """Not counting the time spent waiting for other ranks."""
    communication: float
    """Share of its time spent on communication, including waiting for other ranks."""
    waited: float
    """Share of its time spent idle, without a request."""
    sent_mb: float
    memory_mb: int = 0
    device_mb: int = 0
    """Memory of its GPU that it has reserved."""
    received_mb: float = 0.0
    total_updates: int = 0
    """Updates that it took part in since the run was started or resumed."""
    samples: int = 0
    """Rows that it learned from since then."""
    batch_ms: float = 0.0
    """Milliseconds per update, not counting the exchange with other ranks."""
    sync_ms: float = 0.0
    """Milliseconds per update spent on that exchange, including waiting."""
    efficiency: float = 0.0
    """Share of its time spent computing; of all ranks: their speed relative to `rows_per_second`,
    the sum of their speeds alone."""
    state: str = "healthy"
    """healthy, starting, failed (until it is restarted) or dropped; of all ranks: how many are
    healthy."""
    heartbeat_age: float = 0.0
    """Seconds since its last message."""
    failures: int = 0
    restarts: int = 0
    fallback: bool = False
    """Whether the other ranks do its share."""
    rows_held: int = 0
    """Rows of the replay window that it holds."""


@dataclass(frozen=True)
class LearnReport:
    """What one call of `Learner.learn` did."""

    updates: int
    rows: int
    losses: LossMeans
    """Means over the updates."""
    learning_rate: float
    """Of the last update."""
    rows_per_second: float
    ranks: tuple[RankStats, ...] = ()
    """What each rank did, if several learned together."""
    total: RankStats | None = None
    """What all ranks did."""

    @property
    def worked(self) -> tuple[RankStats, ...]:
        """The ranks that made updates."""
        return tuple(rank for rank in self.ranks if rank.updates)


def merge_reports(reports: Sequence[LearnReport]) -> LearnReport:
    """Return what several calls of `learn`, at least one, did together."""
    updates = sum(report.updates for report in reports)
    rows = sum(report.rows for report in reports)
    seconds = sum(r.rows / r.rows_per_second for r in reports if r.rows)
    rate = rows / seconds if seconds else 0.0
    ranks = merge_ranks([figures for report in reports for figures in report.ranks])
    return LearnReport(
        updates=updates,
        rows=rows,
        losses=weighted_losses(reports, [report.updates for report in reports]),
        learning_rate=reports[-1].learning_rate,
        rows_per_second=rate,
        ranks=ranks,
        total=total_of(ranks, updates=updates, rows_per_second=rate),
    )


def weighted_losses(reports: Sequence[LearnReport], weights: Sequence[int]) -> LossMeans:
    """Return the mean losses of several reports, each with its weight."""
    means = []
    for name in (field.name for field in fields(LossMeans)):
        values = [getattr(report.losses, name) for report in reports]
        means.append(sum(map(mul, weights, values)) / sum(weights))
    return LossMeans(*means)


def merge_ranks(figures: Sequence[RankStats]) -> tuple[RankStats, ...]:
    """Return one entry per rank, by name."""
    names = sorted({each.name for each in figures})
    return tuple(_merged([each for each in figures if each.name == name]) for name in names)


def _merged(figures: Sequence[RankStats]) -> RankStats:
    """Return what one rank did at several times; shares of time count equally."""
    worked = [each for each in figures if each.updates] or figures[-1:]
    rows = sum(each.rows for each in figures)
    seconds = sum(each.rows / each.rows_per_second for each in figures if each.rows)
    updates = [each.updates for each in figures]
    shares: dict[str, Any] = {
        name: _mean([getattr(each, name) for each in worked]) for name in TIME_SHARES
    }
    return replace(
        figures[-1],
        updates=sum(updates),
        rows=rows,
        rows_per_second=rows / seconds if seconds else 0.0,
        batch_ms=_mean([each.batch_ms for each in figures], updates),
        sync_ms=_mean([each.sync_ms for each in figures], updates),
        sent_mb=sum(each.sent_mb for each in figures),
        received_mb=sum(each.received_mb for each in figures),
        **shares,
    )


def total_of(
    ranks: Sequence[RankStats], *, updates: int, rows_per_second: float
) -> RankStats | None:
    """Return the sum of all ranks, with means over those that made updates; None without any."""
    if not ranks:
        return None
    worked = [rank for rank in ranks if rank.updates] or ranks
    healthy = sum(rank.state == "healthy" for rank in ranks)
    sums: dict[str, Any] = {name: sum(getattr(rank, name) for rank in ranks) for name in SUMS}
    names = ("communication", "waited", "batch_ms", "sync_ms")
    means: dict[str, Any] = {
        name: _mean([getattr(rank, name) for rank in worked]) for name in names
    }
    return RankStats(
        name=f"all {len(ranks)}",
        device="",
        updates=updates,
        total_updates=max(rank.total_updates for rank in ranks),
        state=f"{healthy} of {len(ranks)}",
        heartbeat_age=max(rank.heartbeat_age for rank in ranks),
        efficiency=rows_per_second / max(sums["rows_per_second"], 1e-9),
        fallback=any(rank.fallback for rank in ranks),
        **sums,
        **means,
    )


def _mean(values: Sequence[float], weights: Sequence[int] = ()) -> float:
    """Return the mean; 0 if all weights are."""
    counts = weights or [1] * len(values)
    return float(sum(map(mul, counts, values)) / max(sum(counts), 1))


def as_row(losses: Losses, norm: Tensor) -> Tensor:
    """Return the fields of `LossMeans` as a tensor that may still be computed."""
    return torch.stack([*(getattr(losses, field.name) for field in fields(losses)), norm])


def loss_means(steps: Tensor, first: int) -> LossMeans:
    """Return means over steps [n, fields]; the first of them is update number `first`."""
    table = steps.double().cpu().numpy()
    broken = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(broken):
        names = [field.name for field in fields(LossMeans)]
        values = zip(names, table[broken[0]].tolist(), strict=True)
        found = ", ".join(f"{name} {value:g}" for name, value in values if not isfinite(value))
        raise LearningDiverged(
            f"update {first + broken[0]} gave {found}, expected finite numbers; "
            "lower learning.learning_rate"
        )
    return LossMeans(*table.mean(axis=0).tolist())
