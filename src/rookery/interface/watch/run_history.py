"""What the statistics of a run tell: its newest figures, its totals and its curves."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from rookery.interface.watch.stats_tail import Line

NOTES_KEPT = 100


@dataclass(frozen=True)
class Measurement:
    """How strong the run was at one time."""

    errors: float
    """In percent."""
    label: str
    simulations: int
    iteration: int
    seconds: float


@dataclass(frozen=True)
class Note:
    """Something that people should know, and when it happened."""

    seconds: float
    text: str


class RunHistory:
    """A run as far as its lines have been read."""

    def __init__(self) -> None:
        self.kind = ""
        """Of the last line; empty where there is none."""
        self.iteration = 0
        self.seconds = 0.0
        self.games = 0
        self.positions = 0
        self.updates = 0
        self.place: Line = {}
        """How the last stretch began: its device, how nets are evaluated."""
        self.turn: Line = {}
        """The last iteration."""
        self.learning: Line = {}
        """The last one that made updates."""
        self.usage: Line = {}
        self.losses: list[float] = []
        self.measured: list[Measurement] = []
        self.notes: deque[Note] = deque(maxlen=NOTES_KEPT)

    def take(self, lines: Iterable[Line]) -> None:
        """Read on."""
        for line in lines:
            self._take(line)

    def positions_per_second(self) -> float:
        """Of the last iteration; actors that play side by side are added."""
        if crew := self.turn.get("crew"):
            return float(sum(each["positions_per_second"] for each in crew["workers"]))
        played = self.turn["selfplay"]
        return float(played["positions"] / max(played["seconds"], 1e-9))

    def simulations_per_second(self) -> float:
        """Of the last iteration."""
        played = self.turn["selfplay"]
        each = played["simulations"] / max(played["positions"], 1)
        return float(self.positions_per_second() * each)

    def _take(self, line: Line) -> None:
        self.kind = line["kind"]
        self.iteration = max(self.iteration, line["iteration"])
        self.seconds = max(self.seconds, line.get("seconds", 0.0))
        if self.kind in ("started", "resumed"):
            self._begin(line)
        elif self.kind == "iteration":
            self._add(line)
        elif self.kind == "strength":
            self.measured.append(_measurement(line))
        elif self.kind == "note":
            self.notes.append(Note(line["seconds"], line["note"]))
        if isinstance(line.get("device"), dict):
            self.usage = line["device"]

    def _begin(self, line: Line) -> None:
        self.place, self.usage = line, {}
        if self.kind == "resumed":
            text = f"resumed on {line['device']} at iteration {line['iteration']}"
            self.notes.append(Note(self.seconds, text))

    def _add(self, line: Line) -> None:
        self.turn = line
        self.games += line["selfplay"]["games"]
        self.positions += line["selfplay"]["positions"]
        if learned := line["learning"]:
            self.learning = learned
            self.updates += learned["updates"]
            self.losses.append(learned["losses"]["total"])


def _measurement(line: Line) -> Measurement:
    strength = line["strength"]
    return Measurement(
        errors=strength["errors"],
        label=strength["label"],
        simulations=line["simulations"],
        iteration=line["iteration"],
        seconds=line["seconds"],
    )
