"""Threads that evaluate positions for all searches, in batches joined across users.

A search waits while its leaves are evaluated. Meanwhile other searches ask, and a thread takes
what has been asked as its next batch, up to MAX_ROWS. There is one thread per core, and torch has
one thread in each: with several it would wait at every layer for the slowest, which takes long
beside a training. The leaves of one call are shared out to all threads.
"""

import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future

import numpy as np
import torch
from numpy.typing import NDArray

from rookery.base import ConfigError, available_cores
from rookery.interface.web.priority import lower_priority
from rookery.search import Evaluator

Floats = NDArray[np.float32]
Call = tuple[Evaluator, Floats, "Future[tuple[Floats, Floats]]"]
ENDED = "the server ends"
MAX_ROWS = 16
"""Rows of a batch; larger ones are hardly faster per row on a core."""


class Evaluations:
    """The queue of calls, and the threads that answer them."""

    def __init__(self, threads: int | None = None) -> None:
        self._calls: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
        self._is_closed = False
        self._threads = [
            threading.Thread(target=self._work, name=f"evaluations-{number}", daemon=True)
            for number in range(threads or available_cores())
        ]
        for thread in self._threads:
            thread.start()

    def joined(self, evaluator: Evaluator) -> Evaluator:
        """Return an evaluator for any thread, whose calls become parts of batches."""

        def evaluate(planes: Floats) -> tuple[Floats, Floats]:
            if self._is_closed:
                raise ConfigError(ENDED)
            answers = []
            for part in np.array_split(planes, max(1, min(len(self._threads), len(planes) // 2))):
                answers.append(Future[tuple[Floats, Floats]]())
                self._calls.put((evaluator, part, answers[-1]))
            logits, wdl = zip(*(answer.result() for answer in answers), strict=True)
            return np.concatenate(logits), np.concatenate(wdl)

        return evaluate

    def close(self) -> None:
        """End the threads; calls that wait get an error."""
        self._is_closed = True
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join(timeout=1.0)

    def _work(self) -> None:
        lower_priority()
        torch.set_num_threads(1)
        while not self._is_closed:
            calls = self._take()
            for evaluator in {id(call[0]): call[0] for call in calls}.values():
                answer_all(evaluator, [call for call in calls if call[0] is evaluator])
        for _, _, answer in self._take(wait=False):
            answer.set_exception(ConfigError(ENDED))

    def _take(self, *, wait: bool = True) -> list[Call]:
        """Return calls with about MAX_ROWS rows, at least one if `wait`."""
        found = list[Call]()
        while sum(len(planes) for _, planes, _ in found) < MAX_ROWS:
            try:
                call = self._calls.get(block=wait and not found)
            except queue.Empty:
                break
            if call is None:
                break
            found.append(call)
        return found


def answer_all(evaluator: Evaluator, calls: Sequence[Call]) -> None:
    """Evaluate the rows of several calls at once."""
    try:
        logits, wdl = evaluator(np.concatenate([planes for _, planes, _ in calls]))
    except Exception as error:
        for *_, answer in calls:
            answer.set_exception(error)
        return
    first = 0
    for _, planes, answer in calls:
        part = slice(first, first + len(planes))
        answer.set_result((logits[part], wdl[part]))
        first = part.stop
