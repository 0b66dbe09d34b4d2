"""Ctrl-C and SIGTERM end a run cleanly: the watcher raises Stopped at its next moment.

Where no moment comes (compiling, measuring strength), an alarm raises it on the spot. That is
safe at any point: every file of a run appears whole or not at all.
"""

import signal
from types import FrameType, TracebackType
from typing import Any

from rookery.training import Stopped

GRACE_SECONDS = 2.0
"""How long a stop waits for the next moment of the run."""


class Stopping:
    """While entered, signals ask the run to stop; `check` obeys."""

    def __init__(self) -> None:
        self.is_asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Stopping":
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._ask)
        self._before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._insist)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raise Stopped if somebody asked for it."""
        if self.is_asked:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise Stopped

    def _ask(self, number: int, frame: FrameType | None) -> None:
        """Asked again, a run that is already writing its last checkpoint is left alone."""
        if not self.is_asked:
            self.is_asked = True
            signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS)

    def _insist(self, number: int, frame: FrameType | None) -> None:
        self.check()
