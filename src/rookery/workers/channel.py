"""A worker's line to its coordinator: whole messages or none, and a heartbeat that never stops.

A message is a kind, a JSON header and named arrays. The line ends when either side does; a worker
whose coordinator is gone stops at its next word.
"""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Protocol

import numpy as np
import psutil
from numpy.typing import NDArray

from rookery.base import pack_arrays, unpack_arrays

BEAT_SECONDS = 0.5


class ChannelClosed(Exception):
    """The other side is gone."""


@dataclass(frozen=True)
class Message:
    """What one side tells the other."""

    kind: str
    header: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def pack(self) -> bytes:
        """The message as bytes."""
        return pack_arrays(self.arrays, {"kind": self.kind, "header": dict(self.header)})

    @classmethod
    def unpack(cls, payload: bytes) -> "Message":
        """The message that was packed."""
        arrays, header = unpack_arrays(payload)
        return cls(header["kind"], header["header"], arrays)


class Line(Protocol):
    """What a link needs of a pipe, or of what stands for one."""

    def send_bytes(self, payload: bytes, /) -> None:
        """Take a whole message."""

    def poll(self, seconds: float, /) -> bool:
        """Whether there is a message, within `seconds`."""

    def recv_bytes(self) -> bytes:
        """The next whole message."""


class Channel:
    """The worker's end."""

    def __init__(self, connection: Line) -> None:
        self._connection = connection
        self._guard = threading.Lock()
        self._memory = psutil.Process()
        threading.Thread(target=self._beat, name="heartbeat", daemon=True).start()

    def send(self, message: Message) -> None:
        """Tell the coordinator, or LinkClosed."""
        payload = message.pack()
        try:
            with self._guard:
                self._connection.send_bytes(payload)
        except (OSError, ValueError) as error:
            raise ChannelClosed from error

    def receive(self, seconds: float) -> Message | None:
        """The next message, None if there is none within `seconds`, or LinkClosed."""
        try:
            if not self._connection.poll(seconds):
                return None
            return Message.unpack(self._connection.recv_bytes())
        except (OSError, EOFError) as error:
            raise ChannelClosed from error

    def _beat(self) -> None:
        while True:
            megabytes = self._memory.memory_info().rss // 2**20
            try:
                self.send(Message("beat", {"memory_mb": megabytes}))
            except ChannelClosed:
                return
            time.sleep(BEAT_SECONDS)


def drain(inbox: "SimpleQueue[Message]") -> list[Message]:
    """All messages that are in `inbox` now."""
    messages = []
    with suppress(Empty):
        while True:
            messages.append(inbox.get_nowait())
    return messages


def bytes_array(text: bytes) -> NDArray[np.uint8]:
    """Bytes as an array that a message carries."""
    return np.frombuffer(text, np.uint8)


WorkerFunction = Callable[[Channel, Mapping[str, Any]], None]
"""What a worker does until its link closes; the mapping is its job."""
