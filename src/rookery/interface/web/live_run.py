"""One run folder as the web app sees it: read again and again, never written to or locked.

A call costs nothing while nothing changes: the size and the times of the files tell. What was read
is kept, and only lines that were appended are read. A damaged folder is shown as far as it can be
read; `problem` says what is wrong.
"""

import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from rookery.arena import RatingEstimate
from rookery.base import RookeryError
from rookery.interface.run_history import RunHistory
from rookery.interface.stats_tail import NEVER, StatsTail
from rookery.interface.watch.run_status import ENDS, FINISHED, NEW, RUNNING, STOPPED, LockProbe
from rookery.interface.web.run_columns import Columns
from rookery.training import (
    Config,
    EloMeasurement,
    describe_damage,
    history_of,
    read_config,
    read_identity,
)

DAMAGED, STARTING = "damaged", "starting"
STATES = {RUNNING: "running", FINISHED: "finished", STOPPED: "stopped", NEW: "new"}
FRESH_SECONDS = 0.5
"""Files are looked at again after this time at the earliest, whoever asks."""

Sign = tuple[int, int, int]


@dataclass
class LiveRun:
    """The run in the folder `path`, whose name in addresses is `name`."""

    name: str
    path: Path
    game: str = ""
    config: Config | None = None
    history: RunHistory = field(default_factory=RunHistory)
    columns: Columns = field(default_factory=Columns)
    state: str = "new"
    problem: str = ""
    """Why the folder cannot be read as a run; empty if it can."""
    version: int = 0
    """Changes with everything that a page shows."""
    is_awaited: bool = False
    """Whether a process was started that will create the folder."""
    era: int = 0
    """Changes when the statistics were replaced, not appended to."""
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    """Held while the fields are changed or read together."""

    def __post_init__(self) -> None:
        self._tail, self._probe = StatsTail(self.path), LockProbe(self.path)
        self._looked_at = -FRESH_SECONDS
        self._settings_signs: tuple[Sign | None, ...] = ()
        self._lines_sign: Sign | None = None
        self._settings_problem = ""
        self._ratings: dict[int, RatingEstimate] = {}
        self._rated: tuple[EloMeasurement, ...] = ()
        self._is_rating = False

    @property
    def seconds(self) -> float:
        """The time the run has taken, its unfinished iteration included."""
        last_sign = max(self._tail.changed_at, self._probe.touched_at)
        is_under_way = self.state == "running" and last_sign != NEVER
        return self.history.seconds + (max(0.0, time.time() - last_sign) if is_under_way else 0.0)

    @property
    def updated(self) -> float:
        """When the statistics last changed, in seconds since the epoch."""
        return self._tail.changed_at

    @property
    def progress(self) -> float | None:
        """The share of the run that is done, from 0 to 1; None if it has no end."""
        if self.config is None or not (self.config.run.minutes or self.config.run.iterations):
            return None
        return self.config.run.progress(self.seconds, self.history.iteration)

    @property
    def notes(self) -> list[str]:
        """What is wrong with the folder, in sentences."""
        damaged = self._tail.damaged + self.history.damaged
        lines = describe_damage(Path("stats.jsonl"), damaged) if damaged else ""
        return [note for note in (self.problem, lines) if note]

    def ratings(self) -> dict[int, RatingEstimate]:
        """Return the Elo of all iterations that were rated, as far as it has been computed.

        That may take seconds, so it is done in a thread; `version` changes when it is done.
        """
        with self.lock:
            measured = self.history.elo_measurements
            if measured != self._rated and not self._is_rating:
                self._is_rating = True
                threading.Thread(target=self._rate, args=(measured,), daemon=True).start()
            return self._ratings

    def _rate(self, measured: tuple[EloMeasurement, ...]) -> None:
        try:
            found = history_of(measured).ratings() if measured else {}
        except (RookeryError, ValueError, ArithmeticError, LookupError):  # of damaged lines
            found = {}
        with self.lock:
            self._ratings, self._rated, self._is_rating = found, measured, False
            self.version += 1

    def refresh(self) -> "LiveRun":
        """Read what has changed, and return the run."""
        with self.lock:
            if 0 <= time.monotonic() - self._looked_at < FRESH_SECONDS:
                return self
            try:
                if not self.is_awaited or self.path.exists():
                    self._look()
            except (RookeryError, OSError) as error:
                self.problem = self.without_path(str(error))
                self._set_state(DAMAGED)
            self._looked_at = time.monotonic()
        return self

    def _look(self) -> None:
        settings = tuple(_sign(self.path / name) for name in ("run.json", "config.json"))
        if settings != self._settings_signs:
            self._read_settings()
            self._settings_signs = settings
            self.version += 1
        self.problem = self._settings_problem
        is_held = self._probe.is_held(self._tail.changed_at)
        # After the lock: a run writes its last line before it releases it.
        lines = _sign(self.path / "stats.jsonl")
        if lines is None or lines != self._lines_sign:
            self._read_lines()
            self._lines_sign = lines
        state = STATES[RUNNING if is_held else ENDS.get(self.history.kind, STOPPED)]
        self._set_state(DAMAGED if self.problem and not is_held else state)

    def _set_state(self, state: str) -> None:
        if state != self.state:
            self.state = state
            self.version += 1

    def _read_settings(self) -> None:
        self.game, self.config, self._settings_problem = "", None, ""
        try:
            self.game = read_identity(self.path).game
            self.config = read_config(self.path)
        except (RookeryError, OSError) as error:
            self._settings_problem = self.without_path(str(error))

    def _read_lines(self) -> None:
        lines, is_restart = self._tail.read()
        if not (lines or (is_restart and len(self.columns))):
            return
        self.version += 1
        if is_restart:
            self.history, self.columns = RunHistory(), Columns()
            self.era += 1
        self.columns.add(self.history.add(lines))

    def without_path(self, text: str) -> str:
        """Return a message without the place of the folder, which is nobody's business."""
        for place in dict.fromkeys((str(self.path), os.path.realpath(self.path))):
            text = text.replace(place, self.path.name)
        return text


def _sign(path: Path) -> Sign | None:
    """Return what changes with the content of a file; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
