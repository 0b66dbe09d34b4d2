"""The command line of Rookery, with the faults that a process must inject into itself.

    ROOKERY_SOAK=FOLDER python tools/soak_run.py train|resume ...

Workers import this file, too. In each process a thread
reads the files of the control folder several times per second:

    clock      seconds by which time.time() is wrong
    slow       seconds by which fsync and rename are delayed
    raise-PID  raise InjectedFault in the main thread of a process

Workers write their standard error to the file `worker-PID.txt` of that folder, and have their name
(actor 0) in the table of processes.
"""

import ctypes
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WATCH_SECONDS = 0.2


class InjectedFault(Exception):
    """An error that a worker does not expect."""


class Watcher:
    """The faults that are in force in this process."""

    def __init__(self, control: Path) -> None:
        self._control, self._main = control, threading.get_ident()
        self.clock = self.slow = 0.0

    def start(self) -> None:
        """Read the control folder in a thread from now on."""
        threading.Thread(target=self._watch, name="faults", daemon=True).start()

    def _watch(self) -> None:
        request = self._control / f"raise-{os.getpid()}"
        while True:
            self.clock, self.slow = self._number("clock"), self._number("slow")
            if request.exists():
                request.unlink()
                error = ctypes.py_object(InjectedFault)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._main), error)
            time.sleep(WATCH_SECONDS)

    def _number(self, name: str) -> float:
        try:
            return float((self._control / name).read_text())
        except (OSError, ValueError):  # missing, or half written
            return 0.0


def install(control: Path) -> None:
    """Put this process under the control of the folder."""
    watcher, now = Watcher(control), time.time

    def slowed(call: Callable[..., Any]) -> Callable[..., Any]:
        def later(*arguments: Any, **options: Any) -> Any:
            time.sleep(watcher.slow)
            return call(*arguments, **options)

        return later

    vars(time)["time"] = lambda: now() + watcher.clock
    for name in ("fsync", "replace", "rename"):
        vars(os)[name] = slowed(getattr(os, name))
    watcher.start()


def name_worker(control: Path) -> None:
    """Show the role of a worker to other processes, and keep its errors apart."""
    Path("/proc/self/comm").write_text(multiprocessing.current_process().name)
    path = control / f"worker-{os.getpid()}.txt"
    errors = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(errors, sys.stderr.fileno())
    os.close(errors)


if __name__ == "__mp_main__":
    name_worker(Path(os.environ["ROOKERY_SOAK"]))
if __name__ in ("__main__", "__mp_main__"):
    install(Path(os.environ["ROOKERY_SOAK"]))
if __name__ == "__main__":
    from rookery.interface import main

    main()
