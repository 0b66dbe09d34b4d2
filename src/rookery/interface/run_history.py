"""The history of a run, read from its statistics: latest figures, totals and curves."""

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from rookery.arena import RatingEstimate
from rookery.interface.stats_tail import Line, StatsTail
from rookery.learning import LearnReport, RankStats
from rookery.replay import WindowStatistics
from rookery.selfplay import SelfPlayReport
from rookery.training import EloMeasurement, history_of, note_damage

NOTES_KEPT = 100
MAX_SECONDS = 1e12
"""No run takes longer."""


@dataclass(frozen=True)
class Measurement:
    """One measurement of strength."""

    errors: float
    """In percent."""
    label: str
    simulations: int
    iteration: int
    seconds: float
    low: float
    high: float
    """The 95 % interval of `errors`; it has no width if nothing was sampled."""


@dataclass(frozen=True)
class Note:
    """An event worth reporting, and when it happened."""

    seconds: float
    text: str


@dataclass(frozen=True)
class _WorkerFigures:
    name: str
    memory_mb: float
    failures: int
    positions_per_second: float
    device_mb: float = 0
    device_busy: float | None = None


@dataclass(frozen=True)
class _ActorFigures:
    staleness: float
    learner_waited: float
    games_waited: float
    workers: list[_WorkerFigures]


@dataclass(frozen=True)
class _UsageFigures:
    busy: float
    memory_mb: float


@dataclass(frozen=True)
class _Iteration:
    seconds: float
    selfplay: SelfPlayReport
    window: WindowStatistics
    learning: LearnReport | None
    device: _UsageFigures | None = None
    devices: dict[str, _UsageFigures] | None = None
    actors: _ActorFigures | None = None
    fallbacks: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Percentage:
    percent: float
    low: float
    high: float


@dataclass(frozen=True)
class _StrengthRow:
    number: int
    errors: _Percentage


@dataclass(frozen=True)
class _StrengthFigures:
    errors: float
    label: str
    rows: list[_StrengthRow] = field(default_factory=list)

    def interval(self) -> tuple[float, float]:
        """Return the interval of `errors`: that of the largest row with this percentage."""
        rows = [row for row in self.rows if row.errors.percent == self.errors]
        if not rows:
            return self.errors, self.errors
        found = max(rows, key=lambda row: row.number).errors
        return found.low, found.high


@dataclass(frozen=True)
class _Measured:
    seconds: float
    simulations: int
    strength: _StrengthFigures


@dataclass(frozen=True)
class _Rated(EloMeasurement):
    seconds: float = 0.0


@dataclass(frozen=True)
class _Noted:
    seconds: float
    note: str


@dataclass(frozen=True)
class _Begun:
    device: str
    precision: str
    devices: list[str] | None = None
    device_note: str = ""


@dataclass(frozen=True)
class _Finished:
    seconds: float
    device: _UsageFigures | None = None
    devices: dict[str, _UsageFigures] | None = None


@dataclass(frozen=True)
class _Count:
    ready: int
    size: int


@dataclass(frozen=True)
class _Scaled:
    seconds: float
    request: str
    refused: str
    devices: str
    actors: _Count | None = None
    trainers: _Count | None = None


_CONTENT: dict[str, TypeAdapter[Any]] = {
    "iteration": TypeAdapter(_Iteration),
    "strength": TypeAdapter(_Measured),
    "elo": TypeAdapter(_Rated),
    "note": TypeAdapter(_Noted),
    "started": TypeAdapter(_Begun),
    "resumed": TypeAdapter(_Begun),
    "finished": TypeAdapter(_Finished),
    "scaled": TypeAdapter(_Scaled),
}
"""What lines hold, by kind: a damaged line may still be JSON."""
_RANKS = TypeAdapter(tuple[RankStats, ...])
_HUGE = re.compile(rb"[:,\[]-?\d{19,}[,\]}]")
"""A whole number that no run writes, and that may be too large for a float."""


class RunHistory:
    """A run, as far as its lines have been read."""

    def __init__(self) -> None:
        self.kind = ""
        """The kind of the last line; empty without any."""
        self.iteration, self.seconds = 0, 0.0
        self.games = self.positions = self.updates = 0
        self.start: Line = {}
        """The line of the last start or resume: device, precision, inference."""
        self.last: Line = {}
        """The line of the last iteration."""
        self.learning: Line = {}
        """The learning part of the last iteration that made updates."""
        self.usage: Line = {}
        """The last load of the device that learns."""
        self.usages: dict[str, Line] = {}
        """The last load of every GPU, if there are several."""
        self.losses: list[float] = []
        self.measurements: list[Measurement] = []
        self._elo: list[EloMeasurement] = []
        self._ratings: dict[int, RatingEstimate] | None = {}
        """Fitted when they are asked for; None if there are new games since."""
        self.notes: deque[Note] = deque(maxlen=NOTES_KEPT)
        self.answers: dict[str, Line] = {}
        """Answers to the requests of `rookery scale`, by name of the request."""
        self.damaged = 0
        """Lines with other content than their kind has, which were skipped."""

    @property
    def is_finished(self) -> bool:
        """Whether the run has reached its end and nothing was done after it."""
        return self.kind == "finished"

    @property
    def strength(self) -> Measurement | None:
        """The last measurement."""
        return self.measurements[-1] if self.measurements else None

    @property
    def ratings(self) -> dict[int, RatingEstimate]:
        """The Elo of all iterations that were rated, in their order, by all games so far."""
        if self._ratings is None:
            self._ratings = history_of(self._elo).ratings()
        return self._ratings

    @property
    def elo_measurements(self) -> tuple[EloMeasurement, ...]:
        """The games that ratings are based on."""
        return tuple(self._elo)

    @property
    def elo(self) -> RatingEstimate | None:
        """The Elo of the last iteration that was rated."""
        return list(self.ratings.values())[-1] if self.ratings else None

    @property
    def elo_simulations(self) -> int:
        """Simulations per move in the games that ratings are based on."""
        return self._elo[-1].simulations

    @property
    def ranks(self) -> tuple[RankStats, ...]:
        """The trainers, in the last iteration that made updates."""
        return _RANKS.validate_python(self.learning.get("ranks", ()))

    def add(self, lines: Iterable[Line]) -> list[Line]:
        """Add the lines that follow; return those that were not damaged."""
        whole = []
        for line in lines:
            if not _is_whole(line):
                self.damaged += 1
                continue
            whole.append(line)
            self.kind = line["kind"]
            self.iteration = max(self.iteration, line["iteration"])
            self.seconds = max(self.seconds, line.get("seconds", 0.0))
            self._add_figures(line)
            if isinstance(line.get("device"), dict):
                self.usage, self.usages = line["device"], line.get("devices") or {}
        return whole

    def positions_per_second(self) -> float:
        """Return the speed of the last iteration, the sum over all actors."""
        if actors := self.last.get("actors"):
            return float(sum(each["positions_per_second"] for each in actors["workers"]))
        played = self.last["selfplay"]
        return float(played["positions"] / max(played["seconds"], 1e-9))

    def simulations_per_second(self) -> float:
        """Return the speed of the last iteration."""
        played = self.last["selfplay"]
        each = played["simulations"] / max(played["positions"], 1)
        return float(self.positions_per_second() * each)

    def _add_figures(self, line: Line) -> None:
        if self.kind == "iteration":
            self._add_iteration(line)
        elif self.kind == "strength":
            found: _StrengthFigures = _CONTENT["strength"].validate_python(line).strength
            when = line["simulations"], line["iteration"], line["seconds"]
            interval = found.interval()
            self.measurements.append(Measurement(found.errors, found.label, *when, *interval))
        elif self.kind == "elo":
            self._elo.append(_CONTENT["elo"].validate_python(line))
            self._ratings = None
        elif self.kind == "note":
            self.notes.append(Note(line["seconds"], line["note"]))
        elif self.kind == "scaled":
            self.answers[line["request"]] = line
        elif self.kind in ("started", "resumed"):
            self.start, self.usage, self.usages = line, {}, {}
            if self.kind == "resumed":
                text = f"resumed on {line['device']} at iteration {line['iteration']}"
                self.notes.append(Note(self.seconds, text))

    def _add_iteration(self, line: Line) -> None:
        self.last = line
        self.games += line["selfplay"]["games"]
        self.positions += line["selfplay"]["positions"]
        if learned := line["learning"]:
            self.learning = learned
            self.updates += learned["updates"]
            self.losses.append(learned["losses"]["total"])


def _is_time(seconds: object) -> bool:
    return isinstance(seconds, int | float) and 0 <= seconds <= MAX_SECONDS  # NaN is not


def _is_whole(line: Line) -> bool:
    content = _CONTENT.get(line["kind"])
    if content is None or not _is_time(line.get("seconds", 0.0)):
        return False
    try:
        text = to_json(line, inf_nan_mode="constants")
        content.validate_json(text, strict=True)
    except (ValidationError, PydanticSerializationError):  # the latter: half a surrogate pair
        return False
    return not _HUGE.search(text)


def read_history(folder: Path) -> RunHistory:
    """Return the history of the run in `folder`; print a note about damaged lines."""
    history, tail = RunHistory(), StatsTail(folder)
    history.add(tail.read()[0])
    note_damage(tail.path, tail.damaged + history.damaged)
    return history
