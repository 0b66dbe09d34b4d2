"""The faults of the soak: each strikes a running training run from outside, by a seed."""

import re
import resource
import signal
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import numpy as np
import psutil

WORKER = re.compile(r"(actor|trainer) \d+")
REST_SECONDS = 45.0
"""A worker that was hit is left alone for this long: one that fails too often is dropped."""
COORDINATOR_REST_SECONDS = 30.0
SHORT_STOP_SECONDS = (0.5, 3.0)
LONG_STOP_SECONDS = 25.0
"""Longer than actors (20 s) and the trainers of the soak may be silent."""
MEMORY_SECONDS = 10.0
SLOW_SECONDS = (0.05, 0.5)
FULL_SECONDS = (4.0, 10.0)
BALLAST = "ballast"
"""The file that fills the disk."""
END_SECONDS = 120.0
"""Time that the coordinator has to end."""
DAY = 86_400.0
ENDING = ("full disk", "kill coordinator", "stop coordinator")
"""Faults that end the coordinator, or may end it."""


class Target(Protocol):
    """The training run, as its attacker sees it."""

    control: Path
    disk: Path | None
    """The file system of the run, None if it is not its own."""

    def coordinator(self) -> psutil.Process:
        """Return the process that was started last."""

    def expect_end(self, *codes: int, seconds: float) -> None:
        """Allow the coordinator to end with these exit codes within some seconds."""


class Faults:
    """Draws faults, strikes, and ends those that last for some time."""

    def __init__(self, target: Target, dice: np.random.Generator) -> None:
        self._target, self._dice = target, dice
        self.counts: Counter[str] = Counter()
        self.notes: list[str] = []
        """Kinds that are impossible on this machine."""
        self.may_fail: set[int] = set()
        """Workers that may end with a traceback: that is what was done to them."""
        self._later: list[tuple[float, Callable[[], None]]] = []
        self._hit_at: dict[str, float] = {}
        self._kinds: dict[str, tuple[float, Callable[[], bool]]] = {
            "kill worker": (10, lambda: self._signal(signal.SIGKILL)),
            "crash worker": (4, lambda: self._signal(signal.SIGSEGV)),
            "exception in worker": (10, self._raise),
            "memory of worker": (8, self._limit_memory),
            "long stop of worker": (6, lambda: self._stop(LONG_STOP_SECONDS, is_fatal=True)),
            "short stop of worker": (12, self._stop_shortly),
            "cut connection": (12, self._cut),
            "clock jump": (10, self._jump),
            "slow disk": (10, self._slow_down),
            "full disk": (4, self._fill_disk),
            "kill coordinator": (3, self._kill_coordinator),
            "stop coordinator": (3, self._stop_coordinator),
        }
        self._leave_out("cut connection", cannot_cut())
        self._leave_out("full disk", "" if target.disk else "needs root, to mount a file system")

    def strike(self, *, may_end_coordinator: bool) -> str:
        """Inject one fault and return its kind; empty if the one that was drawn is not possible."""
        names = [name for name in self._kinds if may_end_coordinator or name not in ENDING]
        weights = np.array([self._kinds[name][0] for name in names])
        name = names[int(self._dice.choice(len(names), p=weights / weights.sum()))]
        try:
            is_done = self._kinds[name][1]()
        except psutil.Error:  # the process ended just before
            is_done = False
        self.counts[name] += is_done
        return name if is_done else ""

    def tick(self) -> None:
        """End the faults whose time is over."""
        now = time.monotonic()
        due = [action for at, action in self._later if at <= now]
        self._later = [(at, action) for at, action in self._later if at > now]
        for action in due:
            with suppress(psutil.Error, OSError):
                action()

    def end_all(self) -> None:
        """End all faults that last."""
        self._later = [(0.0, action) for _, action in self._later]
        self.tick()
        (self._target.control / "clock").unlink(missing_ok=True)

    def _leave_out(self, name: str, why: str) -> None:
        if why:
            del self._kinds[name]
            self.notes.append(f"left out: {name} ({why})")

    def _after(self, seconds: float, action: Callable[[], None]) -> None:
        self._later.append((time.monotonic() + seconds, action))

    def _between(self, limits: tuple[float, float]) -> float:
        return float(self._dice.uniform(*limits))

    def _is_rested(self, name: str, seconds: float) -> bool:
        return time.monotonic() - self._hit_at.get(name, -seconds) >= seconds

    def _workers(self, role: str = "") -> list[psutil.Process]:
        children = self._target.coordinator().children(recursive=True)
        return [each for each in children if WORKER.match(each.name()) and role in each.name()]

    def _victim(self, *, is_fatal: bool = True) -> psutil.Process | None:
        """Choose a worker; for faults that it does not survive, one that has rested."""
        found = [
            worker
            for worker in self._workers()
            if not is_fatal or self._is_rested(worker.name(), REST_SECONDS)
        ]
        if not found:
            return None
        victim = found[int(self._dice.integers(len(found)))]
        if is_fatal:
            self._hit_at[victim.name()] = time.monotonic()
        return victim

    def _signal(self, number: signal.Signals) -> bool:
        if victim := self._victim():
            victim.send_signal(number)
        return victim is not None

    def _raise(self) -> bool:
        if victim := self._victim():
            self.may_fail.add(victim.pid)
            (self._target.control / f"raise-{victim.pid}").touch()
        return victim is not None

    def _limit_memory(self) -> bool:
        """Let a worker allocate nothing more for some seconds."""
        if victim := self._victim():
            self.may_fail.add(victim.pid)
            hard = victim.rlimit(resource.RLIMIT_AS)[1]
            victim.rlimit(resource.RLIMIT_AS, (victim.memory_info().vms, hard))
            self._after(MEMORY_SECONDS, lambda: victim.rlimit(resource.RLIMIT_AS, (hard, hard)))
        return victim is not None

    def _stop_shortly(self) -> bool:
        return self._stop(self._between(SHORT_STOP_SECONDS), is_fatal=False)

    def _stop(self, seconds: float, *, is_fatal: bool) -> bool:
        if victim := self._victim(is_fatal=is_fatal):
            victim.suspend()
            self._after(seconds, victim.resume)
        return victim is not None

    def _cut(self) -> bool:
        """Reset one connection between trainers."""
        found = [
            each
            for trainer in self._workers("trainer")
            for each in trainer.net_connections("tcp")
            if each.status == psutil.CONN_ESTABLISHED
        ]
        if found:
            cut = found[int(self._dice.integers(len(found)))]
            return reset(cut.laddr.port, cut.raddr.port)
        return False

    def _jump(self) -> bool:
        if not self._workers():
            return False
        jump = self._between((-2 * DAY, 2 * DAY))
        (self._target.control / "clock").write_text(f"{jump:.0f}")
        return True

    def _slow_down(self) -> bool:
        if not self._workers():
            return False
        slow = self._target.control / "slow"
        slow.write_text(f"{self._between(SLOW_SECONDS):.2f}")
        self._after(self._between(FULL_SECONDS), lambda: slow.unlink(missing_ok=True))
        return True

    def _fill_disk(self) -> bool:
        if self._target.disk is None or not self._may_hit_coordinator():
            return False
        ballast, seconds = self._target.disk / BALLAST, self._between(FULL_SECONDS)
        self._target.expect_end(1, 2, seconds=seconds + END_SECONDS)
        with suppress(OSError), ballast.open("wb", buffering=0) as file:  # until it is full
            while file.write(bytes(2**16)):
                pass
        self._after(seconds, lambda: ballast.unlink(missing_ok=True))
        return True

    def _kill_coordinator(self) -> bool:
        if not self._may_hit_coordinator():
            return False
        self._target.expect_end(-signal.SIGKILL, seconds=END_SECONDS)
        self._target.coordinator().kill()
        return True

    def _stop_coordinator(self) -> bool:
        """Stop the run in order; before it has workers, the signal may end it at once."""
        if not self._may_hit_coordinator():
            return False
        codes = (0,) if self._workers() else (0, -signal.SIGTERM)
        self._target.expect_end(*codes, seconds=END_SECONDS)
        self._target.coordinator().terminate()
        return True

    def _may_hit_coordinator(self) -> bool:
        """Return whether the coordinator has rested; if so, it is hit now."""
        if not self._is_rested("coordinator", COORDINATOR_REST_SECONDS):
            return False
        self._hit_at["coordinator"] = time.monotonic()
        return True


def reset(port: int, other: int) -> bool:
    """Reset the connection between two ports of this machine; return whether the kernel did it."""
    asked = ["ss", "--kill", "--no-header", "--tcp", "sport", "=", f":{port}"]
    done = subprocess.run(
        [*asked, "and", "dport", "=", f":{other}"], capture_output=True, text=True
    )
    return done.returncode == 0 and bool(done.stdout.strip())


def cannot_cut() -> str:
    """Return why connections cannot be cut on this machine; empty if they can."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as one,
        server.accept()[0],
    ):
        try:
            is_cut = reset(one.getsockname()[1], server.getsockname()[1])
        except OSError:
            is_cut = False
    return "" if is_cut else "needs root, the command ss and a kernel that can close sockets"
