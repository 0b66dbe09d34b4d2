"""Self-play and learning at the same time on a CPU, each with threads of its own.

Threads that work together on one network wait for each other at every layer; threads that work on
different things do not.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Event

import numba
import torch

from rookery.learning import LearnReport
from rookery.training import parts
from rookery.training.config import Config
from rookery.training.scaling import plays_with_actors

POLL_SECONDS = 0.1
Check = Callable[[], None]
Learn = Callable[[Check], LearnReport | None]


def is_overlapped(config: Config, device: torch.device) -> bool:
    """Return whether one process plays and learns at the same time."""
    is_alone = config.learning.method == "single" and not plays_with_actors(config)
    return is_alone and config.run.mode == "overlapped" and not parts.is_gpu(device)


class _Interrupted(Exception):
    """The learner is to stop after the update under way."""


class LearningThread:
    """A thread that makes updates; until they are made, nothing else may use learner and window."""

    def __init__(self, threads: int) -> None:
        """`threads` is torch's number of threads for learning."""
        self._executor = ThreadPoolExecutor(1, "learner", torch.set_num_threads, (threads,))
        self._is_stopping = Event()
        self._updates: Future[LearnReport | None]

    def start(self, learn: Learn) -> None:
        """Begin to `learn`; it is handed the function to call after every update."""
        self._is_stopping.clear()
        self._updates = self._executor.submit(learn, self._check)

    def finish(self, check: Check) -> LearnReport | None:
        """Wait until all updates are made; `check` may raise to stop."""
        try:
            while not wait([self._updates], POLL_SECONDS).done:
                check()
        except BaseException:
            self.stop()
            raise
        return self._updates.result()

    def stop(self) -> None:
        """Wait for the update under way; those after it, and failures, are given up."""
        self._is_stopping.set()
        wait([self._updates])

    def close(self) -> None:
        """End the thread."""
        self._executor.shutdown()

    def _check(self) -> None:
        if self._is_stopping.is_set():
            raise _Interrupted


@contextmanager
def shared_threads() -> Iterator[int]:
    """Leave half of the CPU's threads to learning, and yield their number."""
    before, compiled = torch.get_num_threads(), numba.get_num_threads()
    learning = max(1, before // 2)
    playing = max(1, before - learning)
    torch.set_num_threads(playing)
    numba.set_num_threads(min(playing, compiled))
    try:
        yield learning
    finally:
        torch.set_num_threads(before)
        numba.set_num_threads(compiled)
