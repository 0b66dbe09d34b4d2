"""A crew: workers of one role, watched, replaced when they fail, dropped when they go on failing.

Nobody waits longer than a limit: a worker that is silent is killed and replaced, one that dies or
throws is replaced after a pause that doubles each time, and one that has used up its
restarts is dropped. The crew goes on with those that are left.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from rookery.base import RookeryError
from rookery.runtime.link import Message


class CrewLost(RookeryError):
    """No worker is left, and none may be started any more."""


class Worker(Protocol):
    """A worker as its coordinator sees it, wherever it runs."""

    name: str

    def received(self) -> list[Message]:
        """The whole messages that have come since the last call."""

    def send(self, message: Message) -> None:
        """Tell the worker."""

    def death(self) -> str:
        """How it ended, or an empty text while it lives."""

    def kill(self) -> None:
        """End it at once."""


@dataclass(frozen=True)
class Limits:
    """How long to wait, and how often to try again."""

    silence_seconds: float = 20.0
    """A worker that says nothing for so long, not even a heartbeat, is taken for hung."""
    start_seconds: float = 300.0
    """A worker must be ready by then; compiling takes time."""
    restarts: int = 5
    """Times that a place in the crew is filled again; a worker that works wipes them out."""
    first_pause: float = 0.5
    """Seconds before the first restart; doubled each time."""
    longest_pause: float = 30.0


PATIENT = Limits()


@dataclass(frozen=True)
class Event:
    """Something that happened to a worker, and what was done about it."""

    worker: str
    what: str
    done: str
    seconds: float
    """Since the crew began."""


@dataclass
class _Place:
    """One place in the crew and who fills it."""

    number: int
    worker: Worker | None = None
    incarnation: int = 0
    failures: int = 0
    started: float = 0.0
    heard: float = 0.0
    is_ready: bool = False
    start_at: float = 0.0
    is_dropped: bool = False
    memory_mb: int = 0
    reason: str = field(default="")


class Crew:
    """`size` workers, each started by `start(name, number, incarnation)`."""

    def __init__(
        self,
        role: str,
        size: int,
        start: Callable[[str, int, int], Worker],
        *,
        limits: Limits = PATIENT,
        tell: Callable[[Event], None] = lambda event: None,
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
            elif not place.is_dropped and time.monotonic() >= place.start_at:
                self._fill(place)
        if all(place.is_dropped for place in self._places):
            last = self._places[-1].reason
            raise CrewLost(f"no {self._role} is left: {last}")
        return found

    def ready(self) -> list[int]:
        """The places whose workers are ready."""
        return [place.number for place in self._places if place.is_ready]

    def send(self, number: int, message: Message) -> None:
        """Tell the worker in a place, if there is one."""
        worker = self._places[number].worker
        if worker is not None:
            worker.send(message)

    def dismiss(self, number: int, what: str) -> None:
        """Drop a worker that another of its kind would not be better than."""
        place = self._places[number]
        place.failures = self._limits.restarts
        self._replace(place, what)

    def memory_mb(self) -> int:
        """What all workers take, by their last heartbeat."""
        return sum(place.memory_mb for place in self._places if place.worker is not None)

    def close(self) -> None:
        """End all workers."""
        for place in self._places:
            if place.worker is not None:
                place.worker.kill()
                place.worker = None

    def _fill(self, place: _Place) -> None:
        place.incarnation += 1
        name = f"{self._role} {place.number}"
        place.worker = self._start(name, place.number, place.incarnation)
        place.started = place.heard = time.monotonic()
        place.is_ready = False

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
                place.failures = 0 if message.kind != "ready" else place.failures
                messages.append(message)
        return messages

    def _look_after(self, place: _Place) -> None:
        assert place.worker is not None
        now, limits = time.monotonic(), self._limits
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
        name, place.worker, place.is_ready, place.reason = place.worker.name, None, False, ""
        place.failures += 1
        if place.failures > self._limits.restarts:
            place.is_dropped, done = True, f"dropped after {place.failures} failures"
            place.reason = what
        else:
            pause = self._limits.first_pause * 2 ** (place.failures - 1)
            pause = min(pause, self._limits.longest_pause)
            place.start_at = time.monotonic() + pause
            done = f"another one in {pause:.1f} s"
        self._tell(Event(name, what, done, time.monotonic() - self._begun))
