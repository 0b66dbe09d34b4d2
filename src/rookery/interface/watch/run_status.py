"""Where a run stands, found in its folder again and again."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from rookery.interface.watch.lock_probe import LockProbe
from rookery.interface.watch.run_history import RunHistory
from rookery.interface.watch.stats_tail import NEVER, StatsTail
from rookery.training import Config, read_config, read_identity

RUNNING, FINISHED, STOPPED, NEW = "running", "finished", "stopped", "not started"


@dataclass(frozen=True)
class RunStatus:
    """A run at one moment."""

    path: Path
    game: str
    config: Config
    story: RunHistory
    """Told on by the next look: the same for all standings."""
    state: str
    seconds: float
    """Time the run has taken, what it is doing now included."""
    silence: float
    """Seconds since its last line."""

    @property
    def progress(self) -> float:
        """How much of it is done, from 0 to 1."""
        return self.config.run.progress(self.seconds, self.story.iteration)


class Watched:
    """A run folder that is looked at again and again, and never written to."""

    def __init__(self, path: Path) -> None:
        """Watch the run at `path`, or RunFolderError."""
        self._path = path
        self._story, self._follower, self._pulse = RunHistory(), StatsTail(path), LockProbe(path)
        self._read_config()

    def look(self) -> RunStatus:
        """Where the run stands now."""
        if self._config_written() != self._config_read:  # resumed with other settings
            self._read_config()
        is_held = self._pulse.is_held(self._follower.changed_at)
        self._read_on()  # after the pulse: a run writes its last line before it lets go
        return RunStatus(
            path=self._path,
            game=self._game,
            config=self._config,
            story=self._story,
            state=_state(self._story.kind, is_held),
            seconds=self._story.seconds + (self._since_news() if is_held else 0.0),
            silence=_since(self._follower.changed_at),
        )

    def _read_on(self) -> None:
        news = self._follower.read()
        if news.is_afresh:
            self._story = RunHistory()
        self._story.take(news.lines)

    def _since_news(self) -> float:
        """Seconds since the last line, or since the run was taken up again."""
        return _since(max(self._follower.changed_at, self._pulse.touched_at))

    def _read_config(self) -> None:
        self._config_read = self._config_written()
        self._game, self._config = read_identity(self._path).game, read_config(self._path)

    def _config_written(self) -> float:
        path = self._path / "config.json"
        return os.stat(path).st_mtime if path.exists() else NEVER


def _since(moment: float) -> float:
    return 0.0 if moment == NEVER else max(0.0, time.time() - moment)


def _state(kind: str, held: bool) -> str:
    if held:
        return RUNNING
    if not kind:
        return NEW
    return FINISHED if kind == "finished" else STOPPED
