"""A crew: workers of one role, watched, replaced when they fail, dropped when they go on failing.

Nobody waits longer than a limit: a worker that is silent is killed and replaced, one that dies or
throws is replaced after a pause that doubles each time, and one that has used up its
restarts is dropped. The crew goes on with those that are left.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from rookery.base import RookeryError
from rookery.workers.channel import Message

BEFORE_WORK = ("ready", "joined")
"""What a worker says that has done nothing yet: it may still turn out to be of no use."""


class WorkersLost(RookeryError):
    """No worker is left, and none may be started any more."""


class Worker(Protocol):
    """A worker as its coordinator sees it, wherever it runs."""

    name: str

    def received(self) -> list[Message]:
        """The whole messages that have come since the last call."""

    def send(self, message: Message) -> None:
        """Tell the worker."""

    def is_waiting(self) -> bool:
        """Whether there has been no room for it so far: it cannot be blamed for being silent."""

    def death(self) -> str:
        """How it ended, or an empty text while it lives."""

    def kill(self) -> None:
        """End it at once."""


@dataclass(frozen=True)
class RestartPolicy:
    """How long to wait, and how often to try again."""

    silence_seconds: float = 20.0
    """A worker that falls silent for so long, not even a heartbeat, is taken for hung."""
    start_seconds: float = 300.0
    """A worker must be ready by then; compiling takes time."""
    restarts: int = 5
    """Times that a place in the crew is filled again; a worker that works wipes them out."""
    first_pause: float = 0.5
    """Seconds before the first restart; doubled each time."""
    longest_pause: float = 30.0


PATIENT = RestartPolicy()


@dataclass(frozen=True)
class WorkerEvent:
    """Something that happened to a worker, and what was done about it."""

    worker: str
    what: str
    done: str
    seconds: float
    """Since the crew began."""


@dataclass(frozen=True)
class WorkerStats:
    """What a crew knows of a worker."""

    name: str
    memory_mb: int
    """By its last heartbeat."""
    failures: int
    """Times that its place had to be filled again."""


@dataclass
class _Place:
    """One place in the crew and who fills it."""

    number: int
    worker: Worker | None = None
    incarnation: int = 0
    failures: int = 0
    """Since its last work."""
    troubles: int = 0
    """Ever."""
    started: float = 0.0
    heard: float = math.inf
    is_ready: bool = False
    start_at: float = 0.0
    is_dropped: bool = False
    is_retired: bool = False
    memory_mb: int = 0
    reason: str = field(default="")

    @property
    def is_closed(self) -> bool:
        """Whether nobody is to fill it."""
        return self.is_dropped or self.is_retired


class WorkerPool:
    """`size` workers, each started by `start(name, number, incarnation)`."""

    def __init__(
        self,
        role: str,
        size: int,
        start: Callable[[str, int, int], Worker],
        *,
        limits: RestartPolicy = PATIENT,
        tell: Callable[[WorkerEvent], None] = lambda event: None,
    ) -> None:
        self._role, self._start, self._limits, self._tell = role, start, limits, tell
        self._begun = time.monotonic()
        self._places = [_Place(number) for number in range(size)]
        for place in self._places:
            self._fill(place)

    def poll(self) -> list[tuple[int, Message]]:
        """Messages with the number of their place; looks after the crew on the way."""
        found = []
        for place in self._places:
            if place.worker is not None:
                found += [(place.number, message) for message in self._hear(place)]
                self._look_after(place)
            elif not place.is_closed and time.monotonic() >= place.start_at:
                self._fill(place)
        if all(place.is_closed for place in self._places):
            reasons = [place.reason for place in self._places if place.is_dropped]
            raise WorkersLost(f"no {self._role} is left: {reasons[-1]}")
        return found

    def ready(self) -> list[int]:
        """The places whose workers are ready."""
        return [place.number for place in self._places if place.is_ready]

    def send(self, number: int, message: Message) -> None:
        """Tell the worker in a place, if there is one."""
        worker = self._places[number].worker
        if worker is not None:
            worker.send(message)

    def drop_worker(self, number: int, what: str) -> None:
        """Drop a worker that another of its kind would not be better than."""
        place = self._places[number]
        place.failures = self._limits.restarts
        self._replace(place, what)

    def add_worker(self, why: str) -> None:
        """Add a worker, in a place that was given up or in a new one."""
        closed = [place for place in self._places if place.is_retired]
        if closed:
            closed[0].is_retired = False
        else:
            self._places.append(_Place(len(self._places)))
        place = closed[0] if closed else self._places[-1]
        self.report_event(place.number, why, "added")
        self._fill(place)

    def retire(self, number: int, why: str) -> None:
        """Let a worker go that is not needed."""
        place = self._places[number]
        if place.worker is not None:
            place.worker.kill()
        place.worker, place.is_ready, place.is_retired = None, False, True
        self.report_event(number, why, "retired")

    def report_event(self, number: int, what: str, done: str) -> None:
        """Tell whoever listens of something that happened to a worker."""
        self._tell(WorkerEvent(self._name(number), what, done, time.monotonic() - self._begun))

    def size(self) -> int:
        """Places that are filled, or will be."""
        return sum(not place.is_closed for place in self._places)

    def figures(self) -> dict[int, WorkerStats]:
        """How each worker does, by its place."""
        return {
            place.number: WorkerStats(self._name(place.number), place.memory_mb, place.troubles)
            for place in self._places
            if place.worker is not None
        }

    def close(self) -> None:
        """End all workers."""
        for place in self._places:
            if place.worker is not None:
                place.worker.kill()
                place.worker = None

    def _fill(self, place: _Place) -> None:
        place.incarnation += 1
        place.worker = self._start(self._name(place.number), place.number, place.incarnation)
        place.started, place.heard, place.is_ready = time.monotonic(), math.inf, False

    def _hear(self, place: _Place) -> list[Message]:
        """What a worker has to say, without what only concerns the crew."""
        assert place.worker is not None
        messages = []
        for message in place.worker.received():
            place.heard = time.monotonic()
            if message.kind == "beat":
                place.memory_mb = message.header["memory_mb"]
            elif message.kind == "failed":
                place.reason = message.header["reason"]
            else:
                place.is_ready = True
                place.failures = place.failures if message.kind in BEFORE_WORK else 0
                messages.append(message)
        return messages

    def _look_after(self, place: _Place) -> None:
        assert place.worker is not None
        now, limits = time.monotonic(), self._limits
        if place.worker.is_waiting():
            place.started = now
        if death := place.worker.death():
            self._replace(place, place.reason or death)
        elif now - place.heard > limits.silence_seconds:
            self._replace(place, f"silent for {now - place.heard:.0f} s")
        elif not place.is_ready and now - place.started > limits.start_seconds:
            self._replace(place, f"not ready after {now - place.started:.0f} s")

    def _replace(self, place: _Place, what: str) -> None:
        """Take a worker away; have another one started later, unless too many have failed."""
        assert place.worker is not None
        place.worker.kill()
        place.worker, place.is_ready, place.reason = None, False, ""
        place.failures += 1
        place.troubles += 1
        if place.failures > self._limits.restarts:
            place.is_dropped, done = True, f"dropped after {place.failures} failures"
            place.reason = what
        else:
            pause = self._limits.first_pause * 2 ** (place.failures - 1)
            pause = min(pause, self._limits.longest_pause)
            place.start_at = time.monotonic() + pause
            done = f"another one in {pause:.1f} s"
        self.report_event(place.number, what, done)

    def _name(self, number: int) -> str:
        return f"{self._role} {number}"
