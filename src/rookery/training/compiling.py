"""Kernels of a new game compiled by other processes: Numba compiles on one core.

A run compiles a kernel when it first needs it. Meanwhile other processes, as many as there are
cores left, compile the kernels that it needs last. All find in the cache on disk what the others
have compiled. They end when they are done, or when their standard input ends with the run.

The first of them forks the others. It starts as a fork of the command line, which has imported
everything, or as a process of its own.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO, Protocol

import numba
import torch

from rookery.base import available_cores, completion_mark
from rookery.games import Game, load_game
from rookery.training.config import Config, from_json, to_json
from rookery.training.needed_kernels import Work, kernels_of_run

FEW_CORES = 2
"""With so few cores a run does not wait for what another process compiles."""
MOST_SECONDS = 120
"""After this time a run compiles by itself what is missing."""


class _Process(Protocol):
    """A process: a new one, or a fork of this one."""

    def poll(self) -> int | None:
        """Return how it ended, None while it runs."""

    def wait(self) -> object:
        """Wait until it has ended."""

    def kill(self) -> None:
        """End it, unless it has ended."""


class Compilers:
    """The other processes that compile for a run, as the run sees them."""

    def __init__(self, process: _Process, stdin: BinaryIO) -> None:
        self._process, self._stdin = process, stdin

    def start(self, game: Game, config: Config, device: torch.device, *, mark: Path) -> None:
        """Have them compile what a run needs; when all is compiled, `mark` exists."""
        job = {"config": to_json(config), "digest": game.digest, "device": str(device)}
        with suppress(OSError):  # they may have ended
            self._stdin.write(json.dumps({**job, "mark": str(mark)}).encode() + b"\n")
            self._stdin.flush()

    def wait(self) -> None:
        """Wait until all is compiled, unless this process could help."""
        end = time.monotonic() + (MOST_SECONDS if available_cores() > FEW_CORES else 0)
        while time.monotonic() < end and self._process.poll() is None:
            time.sleep(0.02)

    def close(self) -> None:
        """End them: the first by force, since it may be importing, the others with their input."""
        with suppress(OSError):
            self._stdin.close()
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> "Compilers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Fork:
    """A fork of this process."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._status: int | None = None

    def poll(self) -> int | None:
        """Return how it ended, None while it runs."""
        if self._status is None:
            ended, status = os.waitpid(self._number, os.WNOHANG)
            self._status = status if ended else None
        return self._status

    def wait(self) -> None:
        """Wait until it has ended."""
        if self._status is None:
            _, self._status = os.waitpid(self._number, 0)

    def kill(self) -> None:
        """End it, unless it has ended."""
        if self.poll() is None:
            os.kill(self._number, signal.SIGKILL)


_forked: Compilers | None = None
"""Compilers that wait for their run."""


def prepare_compilers() -> None:
    """Fork a process that can compile at once for a run of this process.

    To be called when all is imported, but before there are threads and before a GPU is used.
    """
    global _forked
    is_alone = threading.active_count() == 1
    if sys.platform == "linux" and available_cores() > 1 and is_alone and _forked is None:
        with suppress(OSError):
            _forked = _fork_compilers()


def drop_compilers() -> None:
    """End the process that `prepare_compilers` has forked, if it still waits for a run."""
    global _forked
    compilers, _forked = _forked, None
    if compilers is not None:
        compilers.close()


def compile_in_background(game: Game, config: Config, device: torch.device) -> Compilers | None:
    """Have other processes compile what this run needs, unless it was compiled before."""
    global _forked
    mark = _mark(game, config, device)
    if mark is None or mark.exists():
        drop_compilers()
        return None
    compilers, _forked = _forked, None
    with suppress(OSError):  # no process can be started: this one compiles everything
        compilers = compilers or _start_compilers()
        compilers.start(game, config, device, mark=mark)
    return compilers


def _mark(game: Game, config: Config, device: torch.device) -> Path | None:
    """Return the file that says that all is compiled; None if other processes cannot help."""
    if available_cores() == 1 or numba.config.DISABLE_JIT or numba.config.ENABLE_CUDASIM:
        return None
    facts: tuple[object, ...] = (game.name, game.digest, config.search.method, device.type)
    if device.type == "cuda":
        facts += (version("numba-cuda"), torch.cuda.get_device_capability(device))
    return completion_mark(*facts)


def _start_compilers() -> Compilers:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", __name__],  # imports nothing from the present folder
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the run
    )
    assert process.stdin is not None
    return Compilers(process, process.stdin)  # type: ignore[arg-type]


def _fork_compilers() -> Compilers:
    theirs, ours = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(ours)
        _end_after(lambda: _become_compiler(theirs))
    os.close(theirs)
    return Compilers(_Fork(process), os.fdopen(ours, "wb"))


def _become_compiler(stdin: int) -> None:
    """Do in a fork what a new process would do."""
    os.setsid()  # Ctrl-C is for the run
    silent = os.open(os.devnull, os.O_WRONLY)
    for stream, number in ((stdin, 0), (silent, 1), (silent, 2)):
        os.dup2(stream, number)
    sys.stdin = os.fdopen(0)
    main()


def _end_after(work: Callable[[], object]) -> None:
    """Do the work of a fork, then end it without what is left of the process before."""
    code = 1
    with suppress(BaseException):
        work()
        code = 0
    os._exit(code)


def main() -> None:
    """Compile what the run that started this process needs."""
    line = sys.stdin.readline()
    if not line:  # nothing is to be compiled
        return
    job = json.loads(line)
    config, device = from_json(job["config"]), torch.device(job["device"])
    work = kernels_of_run(load_game(config.game, job["digest"]), config, device)
    if compile_all(work):
        Path(job["mark"]).touch()


def compile_all(work: Work) -> bool:
    """Compile kernels on all cores but one, those needed last first; return whether all did."""
    shares = max(1, min(available_cores() - 1, len(work))) if hasattr(os, "fork") else 1
    parts = [work[::-1][first::shares] for first in range(shares)]
    forks = [_fork(part) for part in parts[1:]]
    _compile(parts[0])
    return all(os.waitpid(fork, 0)[1] == 0 for fork in forks)


def _fork(part: Work) -> int:
    """Fork a process that compiles these kernels; return its number."""
    process = os.fork()
    if process == 0:
        _end_after(lambda: _compile(part))
    return process


def _compile(part: Work) -> None:
    threading.Thread(target=_end_with_input, daemon=True).start()
    for compile_kernel in part:
        compile_kernel()


def _end_with_input() -> None:
    os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    main()
