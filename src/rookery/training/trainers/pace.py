"""The pace of trainers: how much they are asked for at once, and when they are late."""

import time

UPDATES_PER_REQUEST = 32
"""At least; between two requests, trainers that have become ready can join."""
REQUEST_SECONDS = 2.0
"""Requests become so long: after each one the averaged network is sent."""
COPY_SHARE = 0.02
"""Share of the time that copies of the trainers' whole state may take."""
ANSWER_SECONDS = 20.0
PATIENCE = 10.0
"""A trainer that sends heartbeats but no answer counts as hung after the sum of three times: the
silence after which the other trainers leave the group, ANSWER_SECONDS, and PATIENCE requests."""


class Pace:
    """What the updates so far say about the next ones."""

    def __init__(self) -> None:
        self.request_size = UPDATES_PER_REQUEST
        self._seconds_per_update = 0.0
        self._next_copy = 0.0

    def note_updates(self, updates: int, seconds: float, *, is_usual: bool) -> None:
        """Note how long a request took; it is not usual if trainers were lost or joined."""
        each = seconds / max(1, updates)
        self.request_size = max(UPDATES_PER_REQUEST, int(REQUEST_SECONDS / each))
        if is_usual:
            self._seconds_per_update = each

    def late_seconds(self, silence_seconds: float) -> float | None:
        """Return after how long an answer to a request is late, None if that is not known yet."""
        if not self._seconds_per_update:
            return None
        request = self.request_size * self._seconds_per_update
        return silence_seconds + ANSWER_SECONDS + PATIENCE * request

    def may_copy(self) -> bool:
        """Return whether the trainers' state may be copied now."""
        return time.perf_counter() >= self._next_copy

    def note_copy(self, seconds: float) -> None:
        """Note how long a copy took, which has just ended."""
        self._next_copy = time.perf_counter() + seconds / COPY_SHARE
