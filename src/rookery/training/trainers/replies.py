"""What the trainers said of their last goals, and what it comes to in sum."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from rookery.learning import (
    LearningConfig,
    LearnReport,
    LossMeans,
    RankStats,
    merge_ranks,
)
from rookery.workers import Message


@dataclass(frozen=True)
class _Told:
    """An answer of a trainer."""

    number: int
    message: Message


class TrainerReplies:
    """Collects answers until a report is due."""

    def __init__(self, config: LearningConfig) -> None:
        self._config = config
        self._current: dict[int, _Told] = {}
        self._all: list[_Told] = []
        self._last: LossMeans = LossMeans(*[0.0] * len(fields(LossMeans)))

    def begin(self) -> None:
        """A new report begins."""
        self._all = []

    def clear(self) -> None:
        """A new goal was set: nobody has answered yet."""
        self._current = {}

    def add(self, number: int, message: Message) -> None:
        """Trainer `number` has answered."""
        self._current[number] = _Told(number, message)
        self._all.append(self._current[number])

    def has(self, number: int) -> bool:
        """Whether a trainer has reached the goal."""
        return number in self._current

    def of(self, number: int) -> Message:
        """What a trainer answered."""
        return self._current[number].message

    def report(
        self, updates: int, *, rows_per_second: float, memory: Mapping[int, int]
    ) -> LearnReport:
        """All answers together; losses count by rows."""
        reports = [told for told in self._all if told.message.header["report"]]
        if reports:
            self._last = _mean_losses(reports)
        last = reports[-1].message.header["report"] if reports else {"learning_rate": 0.0}
        return LearnReport(
            updates=updates,
            rows=updates * self._config.batch_size,
            losses=self._last,
            learning_rate=last["learning_rate"],
            rows_per_second=rows_per_second,
            ranks=merge_ranks([_figures(told, memory) for told in self._all]),
        )


def _mean_losses(answers: list[_Told]) -> LossMeans:
    reports = [told.message.header["report"] for told in answers]
    rows = sum(report["rows"] for report in reports)
    means = {
        field.name: sum(r["rows"] * r["losses"][field.name] for r in reports) / rows
        for field in fields(LossMeans)
    }
    return LossMeans(**means)


def _figures(told: _Told, memory: Mapping[int, int]) -> RankStats:
    header = told.message.header
    report, seconds = header["report"], header["seconds"]
    own = max(seconds - header["blocked"], 1e-9)
    rows = report["rows"] if report else 0
    return RankStats(
        name=f"trainer {told.number}",
        device=header["device"],
        updates=report["updates"] if report else 0,
        rows=rows,
        rows_per_second=rows / own,
        communication=header["blocked"] / max(seconds + header["idle"], 1e-9),
        waited=header["idle"] / max(seconds + header["idle"], 1e-9),
        sent_mb=header["sent"] / 2**20,
        memory_mb=memory.get(told.number, 0),
    )
