"""A pool of workers of one role: supervised, restarted when they fail, dropped when they keep on.

A worker that ends, raises an exception or misses its heartbeats is replaced after a pause that
doubles with every recent failure. A worker that fails too often, or that runs another version of
Rookery, is dropped, for good or for a cool-down. The pool continues with the workers that are left.
"""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Thread

from rookery import __version__
from rookery.base import RookeryError
from rookery.workers.messages import Failed, Heartbeat, Message, Ready

SMOOTHING = 0.2
"""Weight of the newest measurement of a GPU's load."""


class WorkersLost(RookeryError):
    """All workers of a pool have been dropped."""


class Worker(ABC):
    """A worker as its coordinator sees it, wherever it runs; a thread reads its messages."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._inbox: SimpleQueue[Message] = SimpleQueue()
        self._reader = Thread(target=self._read, name=f"read {name}", daemon=True)

    def received(self) -> list[Message]:
        """Return the messages that have arrived since the last call."""
        messages = []
        with suppress(Empty):
            while True:
                messages.append(self._inbox.get_nowait())
        return messages

    def is_queued(self) -> bool:
        """Return whether the worker still waits for a machine with free resources."""
        return False

    @abstractmethod
    def send(self, message: Message) -> None:
        """Send a message without waiting; a worker that has gone does not receive it."""

    @abstractmethod
    def death(self) -> str:
        """Return how the worker ended, once its messages are read; empty while it lives."""

    @abstractmethod
    def kill(self) -> None:
        """End the worker at once, even if it hangs or cannot be reached now."""

    @abstractmethod
    def _read(self) -> None:
        """Put messages into the inbox until the worker ends."""


StartWorker = Callable[[str, int, int], Worker]
"""Starts a worker, given its name, its number and how often that number was started, from 1."""


@dataclass(frozen=True)
class RestartPolicy:
    """How long a pool waits for a worker, and how many failures it accepts."""

    silence_seconds: float = 20.0
    """A worker that sends nothing for this long, not even a heartbeat, counts as hung."""
    start_seconds: float = 300.0
    """A worker must be ready after this time, which includes compiling its kernels."""
    failures: int = 5
    """Failures of one worker that are accepted within `period_seconds`; one more drops it."""
    period_seconds: float = 120.0
    """Time at work after which a failure is forgotten."""
    first_pause: float = 0.5
    """Seconds before a restart, after one recent failure; each further one doubles them."""
    longest_pause: float = 30.0
    """Seconds before a restart, at most."""
    cooldown_seconds: float = 0.0
    """Seconds after which a worker that failed too often is started again; 0 = never."""


@dataclass(frozen=True)
class WorkerEvent:
    """Something that happened to a worker, and what the pool did about it."""

    worker: str
    what: str
    done: str
    fallback: str = ""
    """The kind of fallback, if the pool continues with less: workers or memory."""

    def __str__(self) -> str:
        return f"{self.worker} {self.what}; {self.done}"


@dataclass(frozen=True)
class WorkerStats:
    """What a pool knows about a worker."""

    name: str
    memory_mb: int
    """By its last heartbeat."""
    failures: int
    """Since the pool was started."""
    device_mb: int = 0
    """Memory of its GPU that it has reserved, by its last heartbeat."""
    device_busy: float | None = None
    """Load of its GPU, from 0 to 1, smoothed over some heartbeats; None if it is not known."""
    restarts: int = 0
    """Since then."""
    heartbeat_age: float = 0.0
    """Seconds since its last message."""
    state: str = "healthy"
    """healthy, starting, failed (until it is restarted) or dropped."""


@dataclass
class _Slot:
    """One worker number of a pool, and the worker that has it now."""

    number: int
    worker: Worker | None = None
    starts: int = 0
    is_ready: bool = False
    is_retired: bool = False
    is_dropped: bool = False
    restart_at: float = 0.0
    return_at: float = math.inf
    """When a dropped worker is started again."""
    started_at: float = 0.0
    ready_at: float = 0.0
    heard_at: float = math.inf
    memory_mb: int = 0
    device_mb: int = 0
    device_busy: float | None = None
    failures: int = 0
    failure: str = ""
    """Set when the worker has reported that it failed."""
    seconds_at_work: float = 0.0
    """Of all workers that had the number."""
    recent_failures: list[float] = field(default_factory=list)
    """Values of `seconds_at_work` at the failures that are not forgotten."""

    @property
    def is_closed(self) -> bool:
        """Whether no worker will be started under this number."""
        return self.is_retired or self.is_dropped

    @property
    def state(self) -> str:
        """The state of the worker, as in `WorkerStats`."""
        if self.worker is None:
            return "dropped" if self.is_dropped else "failed"
        return "healthy" if self.is_ready else "starting"

    def begin(self, worker: Worker, now: float) -> None:
        """Take a new worker."""
        self.worker, self.starts = worker, self.starts + 1
        self.started_at, self.heard_at = now, math.inf
        self.is_ready, self.is_retired, self.failure = False, False, ""
        self.is_dropped, self.return_at = False, math.inf
        self.device_mb, self.device_busy = 0, None

    def end(self) -> None:
        """End the worker."""
        if self.worker is not None:
            self.worker.kill()
        if self.is_ready:
            self.seconds_at_work += self.heard_at - self.ready_at
        self.worker, self.is_ready = None, False

    def note_usage(self, message: Heartbeat) -> None:
        """Take over the figures of a heartbeat."""
        self.memory_mb, self.device_mb = message.memory_mb, message.device_mb
        if message.device_busy is None or self.device_busy is None:
            self.device_busy = message.device_busy
        else:
            self.device_busy += SMOOTHING * (message.device_busy - self.device_busy)

    def stats(self, name: str, now: float) -> WorkerStats:
        """Return what is known about the worker."""
        is_running = self.worker is not None
        return WorkerStats(
            name,
            self.memory_mb if is_running else 0,
            self.failures,
            self.device_mb if is_running else 0,
            self.device_busy if is_running else None,
            restarts=max(0, self.starts - 1),
            heartbeat_age=round(max(0.0, now - self.heard_at), 3),
            state=self.state,
        )

    def count_failure(self, period: float) -> int:
        """Count a failure; return how many there were within a period of work."""
        self.failures += 1
        begin = self.seconds_at_work - period
        recent = [at for at in self.recent_failures if at > begin]
        self.recent_failures = [*recent, self.seconds_at_work]
        return len(self.recent_failures)


class WorkerPool:
    """Workers numbered from 0; `poll` has to be called often."""

    def __init__(
        self,
        role: str,
        size: int,
        start: StartWorker,
        *,
        policy: RestartPolicy = RestartPolicy(),  # noqa: B008  a constant
        on_event: Callable[[WorkerEvent], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start `size` workers; `role` names them, `on_event` is called when one fails."""
        self._role, self._start, self._policy = role, start, policy
        self._on_event, self._clock = on_event, clock
        self.last_failure = ""
        """What happened to the last worker that failed."""
        self._slots = [_Slot(number) for number in range(size)]
        for slot in self._slots:
            self._fill(slot)

    def poll(self) -> list[tuple[int, Message]]:
        """Return new messages with their workers' numbers, and restart workers that have failed.

        Heartbeats and reports of failure are left out. WorkersLost if all workers were dropped.
        """
        found = []
        for slot in self._slots:
            if slot.worker is not None:
                found += [(slot.number, message) for message in self._receive(slot)]
                self._check(slot)
            elif not slot.is_closed and self._clock() >= slot.restart_at:
                self._fill(slot)
            elif self._clock() >= slot.return_at:
                self._bring_back(slot)
        if all(slot.is_closed and slot.return_at == math.inf for slot in self._slots):
            raise WorkersLost(f"no {self._role} is left; the last one {self.last_failure}")
        return found

    def ready(self) -> list[int]:
        """Return the numbers of the workers that are ready."""
        return [slot.number for slot in self._slots if slot.is_ready]

    def numbers(self) -> list[int]:
        """Return the numbers of the workers that run or will be started again."""
        return [slot.number for slot in self._slots if not slot.is_closed]

    def size(self) -> int:
        """Return the number of workers that run or will be started again."""
        return len(self.numbers())

    def num_cooling(self) -> int:
        """Return the number of dropped workers that will be started again."""
        return sum(slot.return_at < math.inf for slot in self._slots)

    def keep_dropped(self) -> None:
        """Start no dropped worker again: its owner has started others."""
        for slot in self._slots:
            slot.return_at = math.inf

    def stats(self, *, with_failed: bool = False) -> dict[int, WorkerStats]:
        """Return what is known about each running worker, by number, and about failed ones."""
        return {
            slot.number: slot.stats(self._name(slot.number), self._clock())
            for slot in self._slots
            if slot.worker is not None or (with_failed and not slot.is_retired)
        }

    def send(self, number: int, message: Message) -> None:
        """Send a message to a worker, if it runs."""
        worker = self._slots[number].worker
        if worker is not None:
            worker.send(message)

    def next_number(self) -> int:
        """Return the number of the next worker that is added: of a retired one if there is one."""
        retired = [slot.number for slot in self._slots if slot.is_retired]
        return retired[0] if retired else len(self._slots)

    def add_worker(self, why: str) -> None:
        """Add a worker."""
        number = self.next_number()
        if number == len(self._slots):
            self._slots.append(_Slot(number))
        self.report_event(number, why, "added")
        self._fill(self._slots[number])

    def retire(self, number: int, why: str) -> None:
        """End a worker that is no longer needed."""
        self._slots[number].end()
        self._slots[number].is_retired = True
        self.report_event(number, why, "retired")

    def restart(self, number: int, why: str) -> None:
        """End a worker that has not failed, and start another one under its number."""
        self._slots[number].end()
        self.report_event(number, why, "restarted")
        self._fill(self._slots[number])

    def fail(self, number: int, what: str) -> None:
        """Replace a worker that its owner has found to have failed."""
        self._replace(self._slots[number], what)

    def drop_worker(self, number: int, why: str) -> None:
        """End a worker for good, because a restart would not help."""
        self._slots[number].end()
        self._slots[number].is_dropped, self.last_failure = True, why
        self.report_event(number, why, "dropped", fallback="workers")

    def report_event(self, number: int, what: str, done: str, *, fallback: str = "") -> None:
        """Report something that happened to a worker."""
        self._on_event(WorkerEvent(self._name(number), what, done, fallback))

    def close(self) -> None:
        """End all workers."""
        for slot in self._slots:
            slot.end()

    def _fill(self, slot: _Slot) -> None:
        worker = self._start(self._name(slot.number), slot.number, slot.starts + 1)
        slot.begin(worker, self._clock())

    def _receive(self, slot: _Slot) -> list[Message]:
        """Return a worker's messages, except those that only concern the pool."""
        assert slot.worker is not None
        messages = []
        for message in slot.worker.received():
            slot.heard_at = self._clock()
            if isinstance(message, Heartbeat):
                slot.note_usage(message)
            elif isinstance(message, Failed):
                slot.failure = f"failed: {message.reason}"
            elif isinstance(message, Ready) and message.version != __version__:
                what = f"runs Rookery {message.version}, expected {__version__}"
                self.drop_worker(slot.number, what)
                return []
            else:
                if isinstance(message, Ready):
                    slot.is_ready, slot.ready_at = True, slot.heard_at
                messages.append(message)
        return messages

    def _check(self, slot: _Slot) -> None:
        """Replace a worker that has ended, hangs or does not become ready."""
        if slot.worker is None:
            return
        now, policy = self._clock(), self._policy
        if slot.worker.is_queued():
            slot.started_at = now
        if failure := slot.failure or slot.worker.death():
            self._replace(slot, failure)
        elif now - slot.heard_at > policy.silence_seconds:
            self._replace(slot, f"was silent for {now - slot.heard_at:.0f} s")
        elif not slot.is_ready and now - slot.started_at > policy.start_seconds:
            self._replace(slot, f"was not ready after {now - slot.started_at:.0f} s")

    def _replace(self, slot: _Slot, what: str) -> None:
        """End a worker; start another one later, unless too many have failed."""
        slot.end()
        policy, failures = self._policy, slot.count_failure(self._policy.period_seconds)
        self.last_failure = what
        fallback = ""
        if failures > policy.failures:
            slot.is_dropped, done = True, f"dropped after {failures} failures"
            fallback = "workers"
            if policy.cooldown_seconds:
                slot.return_at = self._clock() + policy.cooldown_seconds
                done += f", returns in {policy.cooldown_seconds:.0f} s"
        else:
            pause = min(policy.first_pause * 2 ** (failures - 1), policy.longest_pause)
            slot.restart_at = self._clock() + pause
            done = f"restarting in {pause:.1f} s"
        self.report_event(slot.number, what, done, fallback=fallback)

    def _bring_back(self, slot: _Slot) -> None:
        """Start a dropped worker again, with its failures forgotten."""
        slot.recent_failures = []
        what = f"was dropped {self._policy.cooldown_seconds:.0f} s ago"
        self.report_event(slot.number, what, "started again")
        self._fill(slot)

    def _name(self, number: int) -> str:
        return f"{self._role} {number}"
