"""Workers in threads of this process: the real worker functions, without the time to start one."""

import threading
from collections.abc import Mapping
from queue import Empty, SimpleQueue
from types import MappingProxyType
from typing import Any, ClassVar

from rookery.workers import Channel, Message, Worker, WorkerFunction, pack, unpack
from rookery.workers.channel import ChannelClosed

STOP_SECONDS = 30.0


class QueueTransport:
    """A pipe between two threads, as `Channel` needs it."""

    def __init__(self) -> None:
        self.to_worker: SimpleQueue[bytes] = SimpleQueue()
        self.to_coordinator: SimpleQueue[bytes] = SimpleQueue()
        self.is_broken = threading.Event()
        self._next: list[bytes] = []

    def send_bytes(self, payload: bytes, /) -> None:
        self._check()
        self.to_coordinator.put(payload)

    def poll(self, seconds: float, /) -> bool:
        self._check()
        try:
            self._next.append(self.to_worker.get(timeout=min(seconds, 0.05)))
        except Empty:
            return False
        return True

    def recv_bytes(self) -> bytes:
        self._check()
        return self._next.pop(0)

    def _check(self) -> None:
        if self.is_broken.is_set():
            raise OSError("the coordinator has gone")


class ThreadWorker(Worker):
    """A worker in a thread, with the interface of `ProcessWorker`."""

    running: ClassVar[list["ThreadWorker"]] = []

    def __init__(
        self,
        name: str,
        function: WorkerFunction[Any],
        job: Any,
        *,
        environment: Mapping[str, str] = MappingProxyType({}),
        heartbeat_seconds: float = 0.5,
    ) -> None:
        super().__init__(name)
        self._heartbeat_seconds = heartbeat_seconds
        self._transport, self._death = QueueTransport(), ""
        self._function, self._job = function, job
        self._reader.start()
        self.running.append(self)

    def received(self) -> list[Message]:
        found = []
        while not self._transport.to_coordinator.empty():
            found.append(unpack(self._transport.to_coordinator.get()))
        return found

    def send(self, message: Message) -> None:
        self._transport.to_worker.put(pack(message))

    def death(self) -> str:
        return self._death if self._transport.to_coordinator.empty() else ""

    def kill(self) -> None:
        """Break the connection; the worker ends when it next sends or receives."""
        self._transport.is_broken.set()
        if self in self.running:
            self.running.remove(self)
        self._reader.join(STOP_SECONDS)
        assert not self._reader.is_alive(), f"{self.name} goes on without its coordinator"

    def _read(self) -> None:
        """Do the work itself in the thread that reads the messages of other workers."""
        channel = Channel(self._transport, self._heartbeat_seconds)
        try:
            self._function(channel, self._job)
        except ChannelClosed:
            self._death = "was killed"
        except Exception as error:
            channel.fail(error)
            self._death = "ended with exit code 1"
