"""One UCI engine: a process that is told a position and answers with a move.

It dies with us, however we end: the kernel kills it, where it can, and elsewhere its input ends.
Nothing here waits without a limit.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

from rookery.base import ConfigError

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
START_SECONDS = 20.0
PATIENCE = 60.0
"""Seconds beyond what it was given, after which an engine counts as hung."""
LONGEST_LINE = 1 << 20


@dataclass(frozen=True)
class EngineSpec:
    """How an engine is started and what it is asked for."""

    name: str
    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    """Names and values, as `setoption` takes them."""
    limit: str
    """What stands behind `go`: `depth 1`, `nodes 100`, `movetime 50`."""
    move_seconds: float = PATIENCE
    """How long a move may take before the engine counts as hung."""


class EngineFault(Exception):
    """An engine that did not do what UCI asks; the text says what it did."""


class Engine:
    """A running engine, ready for positions."""

    def __init__(self, spec: EngineSpec) -> None:
        self._spec, self._open = spec, b""
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
            raise EngineFault(f"cannot be started: {error.strerror}") from error
        try:
            self._greet()
        except (EngineFault, ConfigError):
            self.kill()
            raise

    def fileno(self) -> int:
        """Where its answers come from, for `select`."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def ask(self, position: str) -> None:
        """Have it think about a position, which is written as UCI does."""
        self._send(f"position {position}\ngo {self._spec.limit}\n")

    def lines(self) -> list[str]:
        """The whole lines that came; something must be there to read."""
        new = os.read(self.fileno(), 1 << 16)
        if not new:
            raise EngineFault(self._how_it_ended())
        *whole, self._open = (self._open + new).split(b"\n")
        if len(self._open) > LONGEST_LINE:
            raise EngineFault("wrote a line without an end")
        return [line.decode("utf-8", "replace").strip() for line in whole]

    def kill(self) -> None:
        """End it at once, even if it hangs."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def _greet(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        self._send("uci\n")
        known = {_option(line).lower() for line in self._wait_for("uciok", deadline)}
        for name, value in self._spec.options:
            if name.lower() not in known:
                raise ConfigError(f"{self._spec.name}: the engine has no option {name!r}")
            self._send(f"setoption name {name} value {value}\n")
        self._send("ucinewgame\nisready\n")
        self._wait_for("readyok", deadline)

    def _wait_for(self, word: str, deadline: float) -> list[str]:
        """What it says up to there."""
        told = list[str]()
        while word not in told:
            ready, _, _ = select.select([self], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise EngineFault(f"did not say {word} within {START_SECONDS:g} s; is it UCI?")
            told += self.lines()
        return told

    def _send(self, text: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(text.encode())
        except OSError as error:
            raise EngineFault(self._how_it_ended()) from error

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return "closed its output"
        if code < 0:
            return f"crashed ({signal.Signals(-code).name})"
        return f"ended by itself (exit code {code})"


def _option(line: str) -> str:
    """The name in `option name NAME type ...`, or nothing."""
    return line.removeprefix("option name ").partition(" type ")[0] if " type " in line else ""


def _die_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
