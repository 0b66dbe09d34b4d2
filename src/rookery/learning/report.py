"""What learning reports: mean losses, and what each rank did."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite
from operator import mul

import numpy as np
import torch
from torch import Tensor

from rookery.base import RookeryError
from rookery.learning.loss import Losses


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


def merge_reports(reports: Sequence[LearnReport]) -> LearnReport:
    """Return what several calls of `learn`, at least one, did together."""
    updates = sum(report.updates for report in reports)
    rows = sum(report.rows for report in reports)
    return LearnReport(
        updates=updates,
        rows=rows,
        losses=weighted_losses(reports, [report.updates for report in reports]),
        learning_rate=reports[-1].learning_rate,
        rows_per_second=rows / sum(r.rows / r.rows_per_second for r in reports),
        ranks=merge_ranks([figures for report in reports for figures in report.ranks]),
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
    rows = sum(each.rows for each in figures)
    seconds = sum(each.rows / each.rows_per_second for each in figures if each.rows)
    return replace(
        figures[-1],
        updates=sum(each.updates for each in figures),
        rows=rows,
        rows_per_second=rows / seconds if seconds else 0.0,
        communication=sum(each.communication for each in figures) / len(figures),
        waited=sum(each.waited for each in figures) / len(figures),
        sent_mb=sum(each.sent_mb for each in figures),
        received_mb=sum(each.received_mb for each in figures),
    )


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
