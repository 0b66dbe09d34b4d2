"""Learning of an ensemble: its networks learn from the same window, one after another.

Each has its own first weights and its own order of batches, so that they make different mistakes.
Their mean plays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray
from torch import nn

from rookery.base import FileDamaged
from rookery.learning.gpu_learner import GpuLearner
from rookery.learning.learner import Check, Learner
from rookery.learning.report import LearnReport, merge_reports
from rookery.learning.state import Arrays
from rookery.nets import Ensemble
from rookery.replay import Window


class EnsembleLearner:
    """Several learners as one; an update is one of each."""

    def __init__(self, members: Sequence[Learner | GpuLearner]) -> None:
        self._members = members
        self._play_net = Ensemble(member.play_net for member in members)
        self.config, self.precision, self.updates = members[0].config, members[0].precision, 0

    @property
    def play_net(self) -> nn.Module:
        """The mean of the averaged networks, for playing; it changes in place."""
        return self._play_net

    def learn(
        self, window: Window, num_updates: int, *, progress: float, check: Check = lambda: None
    ) -> LearnReport | None:
        """Make updates of every member; those that were interrupted before catch up."""
        goal = self.updates + num_updates
        reports = []
        try:
            for member in self._members:
                if left := max(0, goal - member.updates):
                    reports.append(member.learn(window, left, progress=progress, check=check))
        finally:
            self._count()
        return _merged(reports)

    def drain(self) -> LearnReport | None:
        """Wait for the updates in flight; return their report, None if there are none."""
        return _merged([member.drain() for member in self._members])

    def set_learning_rate(self, peak: float) -> None:
        """Make the next updates with another peak learning rate."""
        for member in self._members:
            member.set_learning_rate(peak)
        self.config = replace(self.config, learning_rate=peak)

    def state(self) -> Arrays:
        """Return the states of all members, by their numbers."""
        states = [member.state() for member in self._members]
        return {f"{n}.{name}": array for n, own in enumerate(states) for name, array in own.items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned, or FileDamaged."""
        parts: list[dict[str, NDArray[Any]]] = [{} for _ in self._members]
        for name, array in arrays.items():
            number, _, own = name.partition(".")
            if number not in map(str, range(len(parts))):
                raise FileDamaged(f"the learner has no {name}; restore it from a copy")
            parts[int(number)][own] = array
        for member, part in zip(self._members, parts, strict=True):
            member.restore(part)
        self._count()

    def _count(self) -> None:
        self.updates = min(member.updates for member in self._members)


def _merged(reports: Sequence[LearnReport | None]) -> LearnReport | None:
    """Return the report of updates that all members made, with the means of their losses."""
    found = [report for report in reports if report is not None]
    if not found:
        return None
    return replace(merge_reports(found), updates=max(report.updates for report in found))
