"""Workers as processes of this machine.

On Linux they are forked from a server process that has imported everything once: a worker starts
within milliseconds and shares the memory of the imported code. Elsewhere each imports for itself.
A worker ends with its coordinator, however that ends: the kernel kills the server with the
coordinator and the workers with the server, and the worker's pipe breaks.
"""

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from queue import SimpleQueue
from types import MappingProxyType
from typing import Any

from rookery.workers.channel import (
    HEARTBEAT_SECONDS,
    Channel,
    ChannelClosed,
    Job,
    WorkerFunction,
)
from rookery.workers.messages import Message, MessageDamaged, pack, unpack
from rookery.workers.pool import Worker

if sys.platform == "linux":
    _CONTEXT = multiprocessing.get_context("forkserver")
else:
    _CONTEXT = multiprocessing.get_context("spawn")
_PR_SET_PDEATHSIG = 1
_IMPORTED_FIRST = "rookery.server_of_workers"
_CONTEXT.set_forkserver_preload([_IMPORTED_FIRST])
_STARTER = ThreadPoolExecutor(1, "start server")
"""Starts the server: the kernel would kill it with the thread that started it, and this one stays
until the end."""
KILL_SECONDS = 5.0
THREAD_VARIABLES = {"torch": "OMP_NUM_THREADS", "numba": "NUMBA_NUM_THREADS"}


class ProcessWorker(Worker):
    """A worker process, as its coordinator sees it."""

    def __init__(
        self,
        name: str,
        function: WorkerFunction[Job],
        job: Job,
        *,
        environment: Mapping[str, str] = MappingProxyType({}),
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ) -> None:
        """`environment` holds variables of the worker, such as its `thread_limits`."""
        super().__init__(name)
        self._connection, theirs = _CONTEXT.Pipe()
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._damage = ""
        self._process = _CONTEXT.Process(
            target=_run,
            args=(
                theirs,
                _start_server(),
                {**os.environ, **environment},
                function,
                job,
                heartbeat_seconds,
            ),
            name=name,
            daemon=True,
        )
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


def thread_limits(threads: int) -> dict[str, str]:
    """Return the variables that limit the libraries of a worker to some number of threads."""
    names = (*THREAD_VARIABLES.values(), "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return dict.fromkeys(names, str(threads))


def preload(module: str) -> None:
    """Import `module` once, in the process from which workers are forked."""
    _CONTEXT.set_forkserver_preload([_IMPORTED_FIRST, module])


def _start_server() -> int | None:
    """Start the process from which workers are forked, if there is none; return its number."""
    if sys.platform != "linux":
        return None
    _STARTER.submit(forkserver.ensure_running).result()
    server: Any = forkserver._forkserver
    return int(server._forkserver_pid)


def _run(
    connection: Connection,
    server: int | None,
    environment: dict[str, str],
    function: WorkerFunction[Job],
    job: Job,
    heartbeat_seconds: float,
) -> None:
    """Run the worker function in the new process, and report why if it fails."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinator
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != server:  # it ended before this line
            os._exit(0)
        _let_server_end()
        # A lock that Numba creates would otherwise be left behind when this process is killed.
        multiprocessing.set_start_method("fork", force=True)
    _use(environment)
    channel = Channel(connection, heartbeat_seconds)
    try:
        function(channel, job)
    except ChannelClosed:
        os._exit(0)
    except Exception as error:
        channel.fail(error)
        sys.exit(1)


def _let_server_end() -> None:
    """Close this worker's copy of the pipe whose end tells the server that its owner has gone.

    Workers inherit it to start processes themselves. A worker that hangs would keep the server, and
    thus itself, alive after its coordinator.
    """
    server: Any = forkserver._forkserver
    os.close(server._forkserver_alive_fd)
    server._forkserver_alive_fd = None


def _use(environment: dict[str, str]) -> None:
    """Take over variables, after libraries that would have read them were imported.

    Numba reloads all its settings if one of its variables changes, so these are left out.
    """
    os.environ.update(
        {name: text for name, text in environment.items() if not name.startswith("NUMBA_")}
    )
    for library in ("torch", "numba"):
        if (limit := environment.get(THREAD_VARIABLES[library])) and library in sys.modules:
            module = sys.modules[library]
            module.set_num_threads(min(int(limit), module.get_num_threads()))
