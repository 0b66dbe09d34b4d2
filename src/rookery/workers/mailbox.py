"""The line between a role and a coordinator that calls in: messages are kept until they arrived.

To the role it is its end of a pipe. The coordinator's calls may be lost, repeated or overtake each
other: a message is told again until it is acknowledged, and taken once, in its turn.
"""

import threading
import time
from collections import deque
from typing import NamedTuple


class Fetched(NamedTuple):
    """What a coordinator gets when it calls."""

    payloads: list[bytes]
    end: str
    """How the role ended, or an empty text while it goes on; nothing comes after that."""


class Mailbox:
    """Messages both ways."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._outgoing: deque[bytes] = deque()
        self._arrived = 0
        """Outgoing messages that were acknowledged, and so are kept no longer."""
        self._incoming: dict[int, bytes] = {}
        self._taken = 0
        """Incoming messages that the role has taken."""
        self._end = ""
        self._called = time.monotonic()

    def send_bytes(self, payload: bytes) -> None:
        """The role tells the coordinator."""
        with self._changed:
            self._outgoing.append(payload)
            self._changed.notify_all()

    def poll(self, seconds: float) -> bool:
        """Whether the role has a message to take, within `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: self._taken in self._incoming, seconds)

    def recv_bytes(self) -> bytes:
        """The next message for the role."""
        with self._changed:
            self._changed.wait_for(lambda: self._taken in self._incoming)
            self._taken += 1
            return self._incoming.pop(self._taken - 1)

    def end(self, how: str) -> None:
        """The role has ended."""
        with self._changed:
            self._end = how
            self._changed.notify_all()

    def deliver(self, number: int, payload: bytes) -> None:
        """The coordinator's message `number`, counted from 0; taken once, if it comes twice."""
        with self._changed:
            if number >= self._taken:
                self._incoming[number] = payload
                self._changed.notify_all()

    def fetch(self, arrived: int, seconds: float) -> Fetched:
        """The role's messages but the first `arrived`; waits up to `seconds` for one."""
        with self._changed:
            self._called = time.monotonic()
            for _ in range(arrived - self._arrived):
                self._outgoing.popleft()
            self._arrived = max(arrived, self._arrived)
            self._changed.wait_for(lambda: self._outgoing or self._end, seconds)
            return Fetched(list(self._outgoing), self._end)

    def seconds_since_call(self) -> float:
        """How long ago the coordinator asked for messages."""
        with self._changed:
            return time.monotonic() - self._called
