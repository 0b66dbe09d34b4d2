"""The state of a run, found in its folder: its statistics, its settings, and its lock."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from filelock import lock_descriptor

from rookery.base import open_file
from rookery.interface.run_history import RunHistory
from rookery.interface.stats_tail import NEVER, StatsTail
from rookery.training import Config, read_config, read_identity

SETTLED_SECONDS = 1.0
"""A process that touches the lock file holds the lock within this time."""
RUNNING, FINISHED, STOPPED, NEW = "running", "finished", "stopped", "not started"
ENDS = {"": NEW, "finished": FINISHED}
"""The state of a run that nobody trains, by the kind of its last line; otherwise STOPPED."""


@dataclass(frozen=True)
class RunStatus:
    """The state of a run at one time."""

    path: Path
    game: str
    config: Config
    history: RunHistory
    """Shared by all statuses of a watcher, which keeps adding to it."""
    state: str
    seconds: float
    """Time the run has taken, its unfinished iteration included."""
    seconds_since_line: float
    damaged: int = 0
    """Damaged lines of the statistics, which are skipped."""

    @property
    def is_running(self) -> bool:
        """Whether a process trains the run."""
        return self.state == RUNNING

    @property
    def progress(self) -> float:
        """The share of the run that is done, from 0 to 1."""
        return self.config.run.progress(self.seconds, self.history.iteration)


class LockProbe:
    """Finds out whether a process trains the run in `folder`, that is, holds its lock.

    The only test is to try the lock, and a successful try holds it for a moment in which the run
    could not start. So a free lock is tried again only after a sign of activity: a run that starts
    touches the lock file, then takes the lock at once.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / ".lock"
        self.touched_at = NEVER
        """When a process last started to take the lock, in seconds since the epoch."""
        self._free_since: tuple[int, float] | None = None

    def is_held(self, changed_at: float) -> bool:
        """Whether a process trains the run, whose statistics last changed at `changed_at`."""
        try:
            touched = os.stat(self._path)
        except FileNotFoundError:
            return False
        self.touched_at = touched.st_mtime
        signs = (touched.st_mtime_ns, changed_at)
        if signs == self._free_since:
            return False
        if 0 <= time.time() - self.touched_at < SETTLED_SECONDS:
            return True
        is_held = self._try()
        self._free_since = None if is_held else signs
        return is_held

    def _try(self) -> bool:
        with open_file(self._path) as file:
            return not lock_descriptor(file.fileno(), blocking=False)


class RunWatcher:
    """Reads the folder of a run again and again, and never writes to it."""

    def __init__(self, path: Path) -> None:
        """Watch the run at `path`, or raise RunFolderError."""
        self._path = path
        self._history, self._tail, self._lock = RunHistory(), StatsTail(path), LockProbe(path)
        self._read_config()

    def status(self) -> RunStatus:
        """Return the present state of the run."""
        if self._config_changed_at() != self._config_read:  # resumed with other settings
            self._read_config()
        is_held = self._lock.is_held(self._tail.changed_at)
        # After the lock: a run writes its last line before it releases it.
        lines, is_restart = self._tail.read()
        if is_restart:
            self._history = RunHistory()
        self._history.add(lines)
        last_sign = max(self._tail.changed_at, self._lock.touched_at)  # a line, or a resume
        return RunStatus(
            path=self._path,
            game=self._game,
            config=self._config,
            history=self._history,
            state=RUNNING if is_held else ENDS.get(self._history.kind, STOPPED),
            seconds=self._history.seconds + (_seconds_since(last_sign) if is_held else 0.0),
            seconds_since_line=_seconds_since(self._tail.changed_at),
            damaged=self._tail.damaged + self._history.damaged,
        )

    def _read_config(self) -> None:
        self._config_read = self._config_changed_at()
        self._game, self._config = read_identity(self._path).game, read_config(self._path)

    def _config_changed_at(self) -> float:
        path = self._path / "config.json"
        return os.stat(path).st_mtime if path.exists() else NEVER


def _seconds_since(when: float) -> float:
    return 0.0 if when == NEVER else max(0.0, time.time() - when)
