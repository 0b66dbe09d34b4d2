"""The process that Ray runs for each worker of a cluster, and its mailbox.

To the worker function the mailbox is its end of a pipe. The coordinator fetches and delivers by
calls that may be lost, repeated or reordered: the mailbox keeps a message until it is acknowledged,
and takes each one once and in order.
"""

import os
import threading
import time
from collections import deque
from typing import Any, NamedTuple

from rookery.workers.channel import HEARTBEAT_SECONDS, Channel, WorkerFunction

FETCH_SECONDS = 1.0
"""A call for messages returns after this time if there are none."""
ORPHAN_SECONDS = 30.0
"""A worker that gets no call for this long has lost its coordinator, and ends."""


class Fetched(NamedTuple):
    """The answer to a coordinator's call for messages."""

    payloads: list[bytes]
    end: str
    """How the worker function ended, empty while it runs; no message comes after that."""


class Mailbox:
    """Messages in both directions between a worker function and its coordinator."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._outgoing: deque[bytes] = deque()
        self._num_acknowledged = 0
        """Outgoing messages that have arrived and are no longer kept."""
        self._incoming: dict[int, bytes] = {}
        self._num_taken = 0
        """Incoming messages that the worker function has taken."""
        self._end = ""
        self._called_at = time.monotonic()

    def send_bytes(self, payload: bytes) -> None:
        """Keep a message of the worker function for the coordinator."""
        with self._changed:
            self._outgoing.append(payload)
            self._changed.notify_all()

    def poll(self, seconds: float) -> bool:
        """Return whether a message for the worker function arrives within `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: self._num_taken in self._incoming, seconds)

    def recv_bytes(self) -> bytes:
        """Return the next message for the worker function."""
        with self._changed:
            self._changed.wait_for(lambda: self._num_taken in self._incoming)
            self._num_taken += 1
            return self._incoming.pop(self._num_taken - 1)

    def end(self, how: str) -> None:
        """Note that the worker function has ended."""
        with self._changed:
            self._end = how
            self._changed.notify_all()

    def deliver(self, number: int, payload: bytes) -> None:
        """Take the coordinator's message `number`, counted from 0; a repeated one is ignored."""
        with self._changed:
            if number >= self._num_taken:
                self._incoming[number] = payload
                self._changed.notify_all()

    def fetch(self, num_arrived: int, seconds: float = FETCH_SECONDS) -> Fetched:
        """Return all messages but the first `num_arrived`; wait up to `seconds` for one."""
        with self._changed:
            self._called_at = time.monotonic()
            for _ in range(num_arrived - self._num_acknowledged):
                self._outgoing.popleft()
            self._num_acknowledged = max(num_arrived, self._num_acknowledged)
            self._changed.wait_for(lambda: self._outgoing or self._end, seconds)
            return Fetched(list(self._outgoing), self._end)

    def seconds_since_call(self) -> float:
        """Return the seconds since the coordinator last asked for messages."""
        with self._changed:
            return time.monotonic() - self._called_at


class Host(Mailbox):
    """The Ray actor: a thread runs the worker function, the coordinator calls the methods."""

    def __init__(
        self,
        function: WorkerFunction[Any],
        job: Any,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ) -> None:
        super().__init__()
        work = function, job, heartbeat_seconds
        threading.Thread(target=self._run, args=work, daemon=True).start()
        threading.Thread(target=self._watch, daemon=True).start()

    def _run(self, function: WorkerFunction[Any], job: Any, heartbeat_seconds: float) -> None:
        """Run the worker function, and report why if it fails."""
        channel = Channel(self, heartbeat_seconds)
        try:
            function(channel, job)
            self.end("ended")
        except Exception as error:
            channel.fail(error)
            self.end("failed")

    def _watch(self) -> None:
        """End this process when its coordinator no longer calls."""
        while self.seconds_since_call() < ORPHAN_SECONDS:
            time.sleep(1.0)
        os._exit(0)
