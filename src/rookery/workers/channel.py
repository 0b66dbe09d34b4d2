"""A worker's connection to its coordinator: whole messages, and a heartbeat from its own thread.

The connection ends when either side does; a worker whose coordinator has gone gets ChannelClosed
from its next call.
"""

import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, TypeVar

import psutil

from rookery.base import RookeryError
from rookery.workers.messages import Failed, Heartbeat, Message, pack, unpack

HEARTBEAT_SECONDS = 0.5
"""Between two heartbeats, unless a worker is started with another interval."""


MeasureDevice = Callable[[], tuple[int, float | None]]
"""Returns the MB that a worker has reserved on its GPU, and the load of the GPU, if known."""


class ChannelClosed(Exception):
    """The other side has gone."""


class Transport(Protocol):
    """The part of a pipe that a channel needs."""

    def send_bytes(self, payload: bytes, /) -> None: ...
    def poll(self, seconds: float, /) -> bool: ...
    def recv_bytes(self) -> bytes: ...


class Channel:
    """The worker's end of the connection."""

    def __init__(self, transport: Transport, heartbeat_seconds: float = HEARTBEAT_SECONDS) -> None:
        self._transport, self._heartbeat_seconds = transport, heartbeat_seconds
        self._lock = threading.Lock()
        self.measure_device: MeasureDevice = lambda: (0, None)
        """Called for every heartbeat; a worker on a GPU replaces it."""
        threading.Thread(target=self._send_heartbeats, name="heartbeat", daemon=True).start()

    def send(self, message: Message) -> None:
        """Send a message to the coordinator, or raise ChannelClosed."""
        payload = pack(message)
        try:
            with self._lock:
                self._transport.send_bytes(payload)
        except (OSError, ValueError) as error:
            raise ChannelClosed from error

    def receive(self, seconds: float) -> Message | None:
        """Return the next message, None if none arrives within `seconds`, or ChannelClosed."""
        try:
            if not self._transport.poll(seconds):
                return None
            payload = self._transport.recv_bytes()
        except (OSError, EOFError) as error:
            raise ChannelClosed from error
        return unpack(payload)

    def fail(self, error: Exception) -> None:
        """Tell the coordinator why the worker ends; print the traceback of an unexpected error."""
        reason = str(error)
        if not isinstance(error, RookeryError):
            traceback.print_exc(file=sys.stderr)
            reason = traceback.format_exception_only(error)[-1].strip()
        with suppress(ChannelClosed):
            self.send(Failed(reason))

    def _send_heartbeats(self) -> None:
        process = psutil.Process()
        with suppress(ChannelClosed):
            while True:
                memory_mb = process.memory_info().rss // 2**20
                self.send(Heartbeat(memory_mb, *self.measure_device()))
                time.sleep(self._heartbeat_seconds)


Job = TypeVar("Job")
WorkerFunction = Callable[[Channel, Job], None]
"""What a worker does until its channel closes; the job is its argument, a picklable value."""
