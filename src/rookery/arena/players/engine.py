"""UCI engine processes: one process, and a pool that answers many positions.

On Linux the kernel kills an engine when its parent dies; elsewhere the engine reads the end of its
input. Every wait has a time limit.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from rookery.arena.players.engine_spec import EngineSpec
from rookery.base import ConfigError, available_cores

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
START_SECONDS = 20.0
MAX_LINE_BYTES = 1 << 20
MAX_FAILURES = 4
"""Failures in a row after which a pool does not start its engine again."""


class EngineError(Exception):
    """An engine crashed, hung or broke the UCI protocol; the message says what it did."""


BestMove = str | EngineError


class Engine:
    """A running engine process that is ready for positions."""

    def __init__(self, spec: EngineSpec) -> None:
        self._spec, self._unfinished_line = spec, b""
        try:
            self._process = subprocess.Popen(
                spec.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                preexec_fn=_die_with_parent,
            )
        except OSError as error:
            raise EngineError(f"cannot be started: {error.strerror}") from error
        try:
            self._initialize()
        except (EngineError, ConfigError):
            self.kill()
            raise

    def fileno(self) -> int:
        """Return the descriptor of the engine's output, for `select`."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def go(self, position: str) -> None:
        """Start a search of a position, given in UCI notation: `startpos moves e2e4`."""
        self._send(f"position {position}\ngo {self._spec.limit}\n")

    def read_lines(self) -> list[str]:
        """Return the complete lines that have arrived; block until there is some output."""
        received = os.read(self.fileno(), 1 << 16)
        if not received:
            raise EngineError(self._how_it_ended())
        *lines, self._unfinished_line = (self._unfinished_line + received).split(b"\n")
        if len(self._unfinished_line) > MAX_LINE_BYTES:
            raise EngineError("wrote a line without an end")
        return [line.decode("utf-8", "replace").strip() for line in lines]

    def kill(self) -> None:
        """Kill the process and close its pipes."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def _initialize(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        self._send("uci\n")
        known = {_option_name(line).lower() for line in self._wait_for("uciok", deadline)}
        for name, value in self._spec.options:
            if name.lower() not in known:
                raise ConfigError(f"{self._spec.name}: the engine has no option {name!r}")
            self._send(f"setoption name {name} value {value}\n")
        self._send("ucinewgame\nisready\n")
        self._wait_for("readyok", deadline)

    def _wait_for(self, reply: str, deadline: float) -> list[str]:
        """Return the lines up to the one that is `reply`."""
        lines = list[str]()
        while reply not in lines:
            ready, _, _ = select.select([self], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise EngineError(f"did not say {reply} within {START_SECONDS:g} s; is it UCI?")
            lines += self.read_lines()
        return lines

    def _send(self, text: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(text.encode())
        except OSError as error:
            raise EngineError(self._how_it_ended()) from error

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return "closed its output"
        if code < 0:
            return f"crashed ({signal.Signals(-code).name})"
        return f"exited with code {code}"


class EnginePool:
    """Several processes of one engine, each of which searches one position at a time.

    The default size is two processes per core: one starts its search while the other ends.
    """

    def __init__(self, spec: EngineSpec, size: int | None = None) -> None:
        self._spec = spec
        self._size = size or 2 * available_cores()
        self._idle: list[Engine] = []
        self._busy: dict[Engine, tuple[int, float]] = {}
        """The index of the position that an engine searches, and its deadline."""
        self._failures = 0
        weakref.finalize(self, _kill_all, self._idle, self._busy)

    def best_moves(self, positions: Sequence[str]) -> list[BestMove]:
        """Return the engine's `bestmove` for each position, or the error that prevented it."""
        found: dict[int, BestMove] = {}
        waiting = deque(range(len(positions)))
        while waiting or self._busy:
            while waiting and len(self._busy) < self._size:
                index = waiting.popleft()
                try:
                    self._start_search(index, positions[index])
                except EngineError as error:
                    self._failures += 1
                    found[index] = error
            found.update(self._collect())
        return [found[index] for index in range(len(positions))]

    def _start_search(self, index: int, position: str) -> None:
        if self._failures >= MAX_FAILURES:
            raise EngineError(f"failed {MAX_FAILURES} times in a row and is not started again")
        engine = self._idle.pop() if self._idle else Engine(self._spec)
        try:
            engine.go(position)
        except EngineError:
            engine.kill()
            raise
        self._busy[engine] = index, time.monotonic() + self._spec.timeout_seconds

    def _collect(self) -> dict[int, BestMove]:
        """Wait until an engine replies or reaches its deadline."""
        if not self._busy:
            return {}
        first = min(deadline for _, deadline in self._busy.values())
        ready, _, _ = select.select(list(self._busy), [], [], max(0.0, first - time.monotonic()))
        found: dict[int, BestMove] = {}
        now = time.monotonic()
        for engine, (index, deadline) in list(self._busy.items()):
            try:
                move = _read_best_move(engine) if engine in ready else None
                if move is None and now > deadline:
                    raise EngineError(f"did not move within {self._spec.timeout_seconds:g} s")
            except EngineError as error:
                del self._busy[engine]
                engine.kill()
                self._failures += 1
                found[index] = error
                continue
            if move is not None:
                del self._busy[engine]
                self._idle.append(engine)
                self._failures = 0
                found[index] = move
        return found


def _read_best_move(engine: Engine) -> str | None:
    """Return the move of a `bestmove` line, or None if there is none yet."""
    for line in engine.read_lines():
        word, _, rest = line.partition(" ")
        if word == "bestmove":
            return rest.split(" ")[0]
    return None


def _option_name(line: str) -> str:
    """Return NAME of `option name NAME type ...`, or an empty string."""
    return line.removeprefix("option name ").partition(" type ")[0] if " type " in line else ""


def _kill_all(idle: list[Engine], busy: dict[Engine, tuple[int, float]]) -> None:
    for engine in (*idle, *busy):
        with suppress(OSError):
            engine.kill()
    idle.clear()
    busy.clear()


def _die_with_parent() -> None:
    """Ask the kernel to kill this process when the thread that started it ends."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
