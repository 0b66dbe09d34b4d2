"""A learner that is one rank of a group; it may leave the group and join another one.

All ranks have the same seed and know the size of the window, so that every rank knows the batch of
an update and builds only its own rows of it: a share, or with a part of the window those that it
holds. When a rank is lost the batches stay the same: the others get more rows.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rookery.base import pack_arrays, unpack_arrays
from rookery.games import Game
from rookery.learning import state as states
from rookery.learning.captured import CapturedUpdates
from rookery.learning.config import LearningConfig
from rookery.learning.learner import Check, Learner
from rookery.learning.parallel.ddp import DdpGradients, ExchangedGradients
from rookery.learning.parallel.group import ROOT, ProcessGroup, RankSpec, TrafficStats
from rookery.learning.parallel.local_sgd import LocalSgd
from rookery.learning.report import LearnReport, merge_reports
from rookery.replay import Window

CAPTURE_CHANGE = 0.1
"""Shares that change by less do not change on a GPU: updates would have to be captured again."""


@dataclass(frozen=True)
class RankResult:
    """What a rank did for one request."""

    report: LearnReport | None
    """Of its own rows; None if no updates were left to make."""
    seconds: float
    traffic: TrafficStats


class RankLearner(Learner):
    """Learns its share of every batch together with the other ranks of its group."""

    def __init__(self, game: Game, net: nn.Module, *, config: LearningConfig, seed: int) -> None:
        super().__init__(game, net, config=config, seed=seed)
        self._group: ProcessGroup | None = None
        self._captured: CapturedUpdates | None = None
        self._shares: list[int] = []
        """Rows of each rank in a part of a batch."""

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned, or FileDamaged."""
        super().restore(arrays)
        self._captured = None

    def set_parts(self, accumulate: int) -> None:
        """Compute batches in `accumulate` parts, from the next group on."""
        self.config = replace(self.config, accumulate=accumulate)

    def join(self, spec: RankSpec, source: int) -> None:
        """Form a group with the others; all continue from the state of rank `source`."""
        self.leave()
        self._group = group = ProcessGroup(spec)
        if group.size > 1:
            state = pack_arrays(self.state(), {}) if group.rank == source else b""
            state = group.broadcast_bytes(state, source)
            if group.rank != source:
                self.restore(unpack_arrays(state)[0])
        self._captured, kind = None, self._kind(group)
        self._gradients = kind(self.net, group=group, config=self.config, precision=self.precision)
        self._set_shares(even_shares(self._part_rows, group.size))

    def learn(
        self, window: Window, num_updates: int, *, progress: float, check: Check = lambda: None
    ) -> LearnReport:
        """Make updates as `Learner` does; on a GPU as captured graphs where that is possible."""
        if not self._can_capture(window):
            return super().learn(window, num_updates, progress=progress, check=check)
        if self._captured is None or self._captured.window is not window:
            self._captured = None  # two may not fit in memory
            self._captured = CapturedUpdates(self, window)
        return self._captured.run(num_updates, progress)()

    def leave(self) -> None:
        """Leave the group, so that no rank waits for this one."""
        self._gradients.close()
        if self._group is not None:
            self._group.close()
            self._group = None

    def learn_until(self, window: Window, goal: int, *, progress: float) -> RankResult:
        """Make all updates below number `goal`; shares are balanced on the way."""
        assert self._group is not None
        self._group.traffic = TrafficStats()
        if window.is_part:
            self.offsets = np.arange(self.config.batch_size)
            self._gradients.share = window.share
        begin, reports = time.perf_counter(), []
        while self.updates < goal:
            reports.append(self._learn_and_balance(window, goal, progress))
        report = merge_reports(reports) if reports else None
        return RankResult(report, time.perf_counter() - begin, self._group.traffic)

    def whole_state(self) -> states.Arrays:
        """Return what a new learner needs to continue, at the root; nothing elsewhere."""
        return self.state() if self._is_root else {}

    def whole_play(self) -> states.Arrays:
        """Return the averaged network's part of the state, at the root; nothing elsewhere."""
        return self.play_arrays() if self._is_root else {}

    @property
    def _is_root(self) -> bool:
        return self._group is not None and self._group.rank == ROOT

    def _can_capture(self, window: Window) -> bool:
        """Return whether no update waits for other ranks, and all are of the same size."""
        is_alone = self._group is None or self._group.size == 1
        waits = not is_alone and self.config.method != "data_parallel"
        return window.device.type == "cuda" and not waits and not window.is_part

    def _kind(self, group: ProcessGroup) -> type[LocalSgd | ExchangedGradients | DdpGradients]:
        if self.config.method == "data_parallel":
            return LocalSgd
        by_ddp = group.size > 1 and self.config.synchronise == "all_reduce"
        needs_ddp = self.config.overlap or self.config.compress == "powersgd"
        return DdpGradients if by_ddp and needs_ddp else ExchangedGradients

    def _learn_and_balance(self, window: Window, goal: int, progress: float) -> LearnReport:
        assert self._group is not None
        every = self.config.balance_every or goal
        until = min(goal, (self.updates // every + 1) * every)
        begin, blocked = time.perf_counter(), self._group.traffic.blocked
        report = self.learn(window, until - self.updates, progress=progress)
        own = time.perf_counter() - begin - (self._group.traffic.blocked - blocked)
        if self.config.balance_every and until % every == 0 and not window.is_part:
            self._balance(report.rows / max(own, 1e-9))
        return report

    def _balance(self, rate: float) -> None:
        """Divide the next batches by the ranks' rates."""
        assert self._group is not None
        rates = self._group.all_gather(torch.tensor([rate], dtype=torch.float64))
        most = self.config.max_batch_ratio
        shares = fair_shares(self._part_rows, [*map(float, rates)], largest_ratio=most)
        changes = [abs(new - old) / old for new, old in zip(shares, self._shares, strict=True)]
        if self._captured is None or max(changes) >= CAPTURE_CHANGE:
            self._set_shares(shares)

    def _set_shares(self, shares: list[int]) -> None:
        assert self._group is not None
        self._shares, self._captured, rank = shares, None, self._group.rank
        self.offsets = rows_of(rank, shares, parts=self.config.accumulate)
        self._gradients.share = shares[rank] / sum(shares)


def even_shares(rows: int, size: int) -> list[int]:
    """Return equal shares of `rows` for `size` ranks; they differ by at most one row."""
    return fair_shares(rows, [1.0] * size, largest_ratio=1.0)


def fair_shares(rows: int, rates: Sequence[float], *, largest_ratio: float) -> list[int]:
    """Return the rows of each rank, by its rate; rates count within a factor `largest_ratio`."""
    if rows < len(rates):
        raise ValueError(f"{rows} rows cannot be shared by {len(rates)} ranks")
    speeds = np.maximum(np.array(rates, np.float64), max(rates) / largest_ratio)
    exact = 1 + (rows - len(rates)) * speeds / speeds.sum()  # each rank gets at least one
    shares = np.floor(exact).astype(int)
    behind = np.argsort(shares - exact, kind="stable")
    shares[behind[: rows - shares.sum()]] += 1
    return [int(share) for share in shares]


def rows_of(rank: int, shares: Sequence[int], *, parts: int) -> NDArray[np.int64]:
    """Return the rows of a rank in a batch of `parts` parts that are all shared alike."""
    begin, size = sum(shares[:rank]), sum(shares)
    first = np.arange(parts)[:, None] * size + begin
    offsets: NDArray[np.int64] = (first + np.arange(shares[rank])).reshape(-1).astype(np.int64)
    return offsets
