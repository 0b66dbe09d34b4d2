"""Evaluation on all cores: the rows of a call are shared out to threads.

Torch has one thread in each: with several it would wait at every layer for the slowest, which
takes long beside a training.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from rookery.base import available_cores
from rookery.interface.web.work_threads import prepare_thread
from rookery.search import Evaluator

Floats = NDArray[np.float32]
MIN_ROWS = 2
"""Rows of a thread; fewer take as long."""


class Evaluations:
    """The threads that evaluate, besides those that ask."""

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads or available_cores()
        self._others = ThreadPoolExecutor(
            max(1, self._threads - 1), "evaluations", initializer=prepare_thread
        )

    def shared(self, evaluator: Evaluator) -> Evaluator:
        """Return an evaluator whose calls are worked on by all threads."""

        def evaluate(planes: Floats) -> tuple[Floats, Floats]:
            count = max(1, min(self._threads, len(planes) // MIN_ROWS))
            if count == 1:
                return evaluator(planes)
            own, *others = np.array_split(planes, count)
            calls = [self._others.submit(evaluator, part) for part in others]
            answers = [evaluator(own), *(call.result() for call in calls)]
            logits, wdl = zip(*answers, strict=True)
            return np.concatenate(logits), np.concatenate(wdl)

        return evaluate

    def close(self) -> None:
        """End the threads."""
        self._others.shutdown(wait=False, cancel_futures=True)
