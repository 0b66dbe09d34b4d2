"""Engines side by side: many positions are answered by a few processes, a position at a time."""

import os
import select
import time
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from rookery.arena.players.engine import Engine, EngineFault, EngineSpec

MOST_FAULTS = 4
"""Failures without a good answer between them, after which an engine is not started again."""
Answer = str | EngineFault


class EnginePool:
    """Two processes a core of one engine, started when needed: while one wakes up, one thinks."""

    def __init__(self, spec: EngineSpec, size: int | None = None) -> None:
        self._spec = spec
        self._size = size or 2 * (os.cpu_count() or 1)
        self._idle: list[Engine] = []
        self._busy: dict[Engine, tuple[int, float]] = {}
        """The position that an engine thinks about, and until when it may."""
        self._faults = 0
        weakref.finalize(self, _kill_all, self._idle, self._busy)

    def answer(self, positions: Sequence[str]) -> list[Answer]:
        """What an engine says behind `bestmove`, or why it says nothing, for each position."""
        answers: dict[int, Answer] = {}
        waiting = deque(range(len(positions)))
        while waiting or self._busy:
            while waiting and len(self._busy) < self._size:
                number = waiting.popleft()
                try:
                    self._hand_out(number, positions[number])
                except EngineFault as fault:
                    answers[number] = self._blame(fault)
            answers.update(self._collect())
        return [answers[number] for number in range(len(positions))]

    def close(self) -> None:
        """End all processes."""
        _kill_all(self._idle, self._busy)

    def _hand_out(self, number: int, position: str) -> None:
        if self._faults >= MOST_FAULTS:
            raise EngineFault(f"failed {MOST_FAULTS} times in a row and is not started again")
        engine = self._idle.pop() if self._idle else Engine(self._spec)
        try:
            engine.ask(position)
        except EngineFault:
            engine.kill()
            raise
        self._busy[engine] = number, time.monotonic() + self._spec.move_seconds

    def _collect(self) -> dict[int, Answer]:
        """Wait until somebody answers, or has had its time."""
        if not self._busy:
            return {}
        first = min(deadline for _, deadline in self._busy.values())
        ready, _, _ = select.select(list(self._busy), [], [], max(0.0, first - time.monotonic()))
        answers: dict[int, Answer] = {}
        now = time.monotonic()
        for engine, (number, deadline) in list(self._busy.items()):
            try:
                move = _best_move(engine) if engine in ready else None
                if move is None and now > deadline:
                    raise EngineFault(f"did not move within {self._spec.move_seconds:g} s")
            except EngineFault as fault:
                del self._busy[engine]
                engine.kill()
                answers[number] = self._blame(fault)
                continue
            if move is not None:
                del self._busy[engine]
                self._idle.append(engine)
                self._faults = 0
                answers[number] = move
        return answers

    def _blame(self, fault: EngineFault) -> EngineFault:
        self._faults += 1
        return fault


def _best_move(engine: Engine) -> str | None:
    """What it says behind `bestmove`, if it has said that."""
    for line in engine.lines():
        word, _, rest = line.partition(" ")
        if word == "bestmove":
            return rest.split(" ")[0]
    return None


def _kill_all(idle: list[Engine], busy: dict[Engine, tuple[int, float]]) -> None:
    for engine in (*idle, *busy):
        with suppress(OSError):
            engine.kill()
    idle.clear()
    busy.clear()
