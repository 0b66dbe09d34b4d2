"""Whether somebody trains a run: its lock is held.

To find out, the lock has to be tried, and one that is free is ours for a moment in which nobody
could start the run. So it is tried again only after a sign of life: a run that starts touches the
lock's file first, and then takes it at once.
"""

import os
import time
from pathlib import Path

from filelock import lock_descriptor

from rookery.interface.watch.stats_tail import NEVER

SETTLED_SECONDS = 1.0
"""After the lock's file was touched, whoever did so has the lock."""


class LockProbe:
    """Feels whether the run in `folder` is held by a process."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / ".lock"
        self.touched_at = NEVER
        """When a run last set out to take the lock, in seconds since the epoch."""
        self._free_since: tuple[int, float] | None = None

    def is_held(self, changed_at: float) -> bool:
        """Whether a process trains the run, whose statistics were last written at `changed_at`."""
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
        with open(self._path, "rb") as file:
            return not lock_descriptor(file.fileno(), blocking=False)
