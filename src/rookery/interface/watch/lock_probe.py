"""Whether a process trains a run, that is, holds its lock.

The only test is to try the lock, and a successful try holds it for a moment in which the run could
not start. So a free lock is tried again only after a sign of activity: a run that starts touches
the lock file, then takes the lock at once.
"""

import os
import time
from pathlib import Path

from filelock import lock_descriptor

from rookery.interface.stats_tail import NEVER

SETTLED_SECONDS = 1.0
"""A process that touches the lock file holds the lock within this time."""


class LockProbe:
    """Finds out whether a process holds the lock of the run in `folder`."""

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
        with open(self._path, "rb") as file:
            return not lock_descriptor(file.fileno(), blocking=False)
