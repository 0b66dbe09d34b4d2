"""A clean stop on Ctrl-C and SIGTERM: the next progress callback raises Stopped.

If no callback comes (compiling, measuring strength), an alarm raises it. That is safe at any time:
files of a run are written atomically. Without alarms (Windows) the stop waits for the callback.
"""

import signal
from types import FrameType
from typing import Any

from rookery.training import Progress, ProgressCallback, Stopped

GRACE_SECONDS = 2.0
"""How long a stop waits for the next callback."""
HAS_ALARM = hasattr(signal, "setitimer")


class Stopping:
    """While entered, signals request a stop; `check` obeys."""

    def __init__(self) -> None:
        self.is_requested = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Stopping":
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._on_signal)
        if HAS_ALARM:
            self._before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._on_alarm)
        return self

    def __exit__(self, *_: object) -> None:
        _set_alarm(0)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raise Stopped if a stop was requested."""
        if self.is_requested:
            _set_alarm(0)
            raise Stopped

    def checked(self, callback: ProgressCallback) -> ProgressCallback:
        """Return `callback` with a check before each call."""

        def check_first(report: Progress) -> None:
            self.check()
            callback(report)

        return check_first

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """Request a stop once; a repeated signal must not interrupt the last checkpoint."""
        if not self.is_requested:
            self.is_requested = True
            _set_alarm(GRACE_SECONDS)

    def _on_alarm(self, number: int, frame: FrameType | None) -> None:
        self.check()


def _set_alarm(seconds: float) -> None:
    """Set the alarm, or cancel it with 0."""
    if HAS_ALARM:
        signal.setitimer(signal.ITIMER_REAL, seconds)
