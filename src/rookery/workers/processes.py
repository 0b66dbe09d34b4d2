"""Workers as processes of this machine, started with the method `spawn`.

A worker ends with its coordinator, however that ends: the kernel kills it, where it can, and its
pipe breaks.
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

from rookery.workers.channel import Channel, ChannelClosed, Job, WorkerFunction
from rookery.workers.messages import Message, MessageDamaged, pack, unpack
from rookery.workers.pool import Worker

_SPAWN = multiprocessing.get_context("spawn")
_PR_SET_PDEATHSIG = 1
KILL_SECONDS = 5.0


class ProcessWorker(Worker):
    """A worker process, as its coordinator sees it."""

    def __init__(
        self,
        name: str,
        function: WorkerFunction[Job],
        job: Job,
        *,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`environment` holds variables that libraries read when the worker imports them."""
        super().__init__(name)
        self._connection, theirs = _SPAWN.Pipe()
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._damage = ""
        self._process = _SPAWN.Process(
            target=_run, args=(theirs, os.getpid(), function, job), name=name, daemon=True
        )
        with changed_environment(environment):
            self._process.start()
        theirs.close()
        self._writer = threading.Thread(target=self._write, name=f"write {name}", daemon=True)
        self._reader.start()
        self._writer.start()

    @property
    def pid(self) -> int:
        """The number of the process."""
        assert self._process.pid is not None
        return self._process.pid

    def send(self, message: Message) -> None:
        self._outbox.put(pack(message))

    def death(self) -> str:
        code = self._process.exitcode
        if self._reader.is_alive() or not self._inbox.empty():
            return ""
        if self._damage or code is None:
            return self._damage
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    def kill(self) -> None:
        self._process.kill()
        self._process.join(KILL_SECONDS)
        self._outbox.put(None)
        for thread in (self._reader, self._writer):  # both use the connection
            thread.join(KILL_SECONDS)
        self._connection.close()

    def _write(self) -> None:
        with suppress(OSError, ValueError):  # the worker has gone
            while (payload := self._outbox.get()) is not None:
                self._connection.send_bytes(payload)

    def _read(self) -> None:
        try:
            while True:
                self._inbox.put(unpack(self._connection.recv_bytes()))
        except MessageDamaged as error:
            self._damage = f"sent bytes that cannot be read: {error}"
        except (OSError, EOFError):  # the worker has gone, perhaps within a message
            return


@contextmanager
def changed_environment(changes: Mapping[str, str]) -> Iterator[None]:
    """Set variables for the processes that are started inside."""
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


def thread_limits(threads: int) -> dict[str, str]:
    """Return the variables that limit the libraries of a worker to some number of threads."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    return dict.fromkeys(names, str(threads))


def _run(connection: Connection, coordinator: int, function: WorkerFunction[Job], job: Job) -> None:
    """Run the worker function in the new process, and report why if it fails."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinator
    _die_with(coordinator)
    channel = Channel(connection)
    try:
        function(channel, job)
    except ChannelClosed:
        os._exit(0)
    except Exception as error:
        channel.fail(error)
        sys.exit(1)


def _die_with(coordinator: int) -> None:
    """Ask Linux to kill this process when `coordinator` ends; elsewhere the pipe breaks."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != coordinator:
            os._exit(1)
