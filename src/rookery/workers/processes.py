"""Workers as processes of this machine, started anew by `spawn`.

A worker dies with its coordinator, however that ends: the kernel tells it, where it can, and the
line it talks on breaks.
"""

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from types import MappingProxyType
from typing import Any

from rookery.workers.channel import Channel, ChannelClosed, Message, WorkerFunction, drain
from rookery.workers.failure import explain_failure

_SPAWN = multiprocessing.get_context("spawn")
_PR_SET_PDEATHSIG = 1
KILL_SECONDS = 5.0


class ProcessWorker:
    """A process that plays a role, as its coordinator sees it."""

    def __init__(
        self,
        name: str,
        role: WorkerFunction,
        job: Mapping[str, Any],
        *,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`environment` are variables that its libraries read when they are imported."""
        self.name = name
        self._connection, theirs = _SPAWN.Pipe()
        self._inbox: SimpleQueue[Message] = SimpleQueue()
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._process = _SPAWN.Process(
            target=_work, args=(theirs, os.getpid(), role, dict(job)), name=name, daemon=True
        )
        with changed_environment(environment):
            self._process.start()
        theirs.close()
        self._reader = threading.Thread(target=self._read, name=f"read {name}", daemon=True)
        self._writer = threading.Thread(target=self._write, name=f"write {name}", daemon=True)
        self._reader.start()
        self._writer.start()

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process.pid is not None
        return self._process.pid

    def received(self) -> list[Message]:
        """The whole messages that have come since the last call."""
        return drain(self._inbox)

    def send(self, message: Message) -> None:
        """Tell the worker; one that is gone does not hear it, one that hangs holds up nobody."""
        self._outbox.put(message.pack())

    def is_waiting(self) -> bool:
        """It runs at once: this machine always has room."""
        return False

    def death(self) -> str:
        """How it ended, or an empty text while it lives; what it had sent is still to be read."""
        code = self._process.exitcode
        if code is None or self._reader.is_alive() or not self._inbox.empty():
            return ""
        if code < 0:
            return f"killed by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    def kill(self) -> None:
        """End it at once, even if it hangs."""
        self._process.kill()
        self._process.join(KILL_SECONDS)
        self._outbox.put(None)
        for thread in (self._reader, self._writer):  # nobody may use what is closed
            thread.join(KILL_SECONDS)
        self._connection.close()

    def _write(self) -> None:
        with suppress(OSError, ValueError):  # gone
            while (message := self._outbox.get()) is not None:
                self._connection.send_bytes(message)

    def _read(self) -> None:
        while True:
            try:
                self._inbox.put(Message.unpack(self._connection.recv_bytes()))
            except (OSError, EOFError, ValueError, KeyError):  # gone, or cut off within a message
                return


@contextmanager
def changed_environment(changes: Mapping[str, str]) -> Iterator[None]:
    """Variables that a process started inside inherits."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _work(
    connection: Connection, coordinator: int, role: WorkerFunction, job: Mapping[str, Any]
) -> None:
    """The worker's process: play the role, and say why where that fails."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinator
    _die_with(coordinator)
    link = Channel(connection)
    try:
        role(link, job)
    except ChannelClosed:
        os._exit(0)
    except Exception as error:
        link.send(Message("failed", {"reason": explain_failure(error)}))
        sys.exit(1)


def _die_with(coordinator: int) -> None:
    """Have the kernel kill this process when `coordinator` ends; elsewhere the line breaks."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != coordinator:
            os._exit(1)
