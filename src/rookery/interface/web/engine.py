"""Worker threads that all users share: every open question gets short slices of time in turn.

A question is a generator: each step works for about SLICE_SECONDS and yields an answer or None.
The threads take turns between users, and between the questions of one user. Compiled kernels
release the interpreter's lock. The threads have a low priority: a training on the same machine
goes first.
"""

import asyncio
import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

from rookery.base import ConfigError, RookeryError
from rookery.interface.web.priority import lower_priority

SLICE_SECONDS = 0.03
MAX_WAITING = 256
"""Questions of all users together."""
BUSY = "the server has too many questions at once; try again later"
FAILED = "the server could not answer; its terminal says why"
Answer = dict[str, Any]
Steps = Generator[Answer | None, None, None]
_log = logging.getLogger(__name__)


class Job:
    """One question in the queue."""

    def __init__(self, owner: object, steps: Steps, deliver: Callable[[Answer], None]) -> None:
        """`deliver` gets answers from a worker thread, at last one with an error or `done`."""
        self.owner, self.steps, self.deliver = owner, steps, deliver
        self.is_cancelled = False


class Engine:
    """A queue of questions, and the threads that answer them."""

    def __init__(self, threads: int, *, name: str) -> None:
        self._waiting: OrderedDict[object, deque[Job]] = OrderedDict()
        """Jobs by owner; the first owner is next."""
        self._count = 0
        """Jobs that wait or run."""
        self._is_closed = False
        self._changed = threading.Condition()
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def __len__(self) -> int:
        """Return how many questions wait or run."""
        return self._count

    def submit(self, job: Job) -> None:
        """Answer a question, or raise ConfigError if there are too many."""
        with self._changed:
            if self._count >= MAX_WAITING or self._is_closed:
                raise ConfigError(BUSY)
            self._count += 1
            self._add(job)

    async def call(self, owner: object, function: Callable[[], Any]) -> Any:
        """Return what a function returns in a worker thread; it counts as one slice."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def settle(answer: Answer) -> None:
            if future.done():
                return
            if "error" in answer:
                future.set_exception(ConfigError(answer["error"]))
            else:
                future.set_result(answer["result"])

        def steps() -> Steps:
            yield {"result": function()}

        job = Job(owner, steps(), to_loop(settle))
        self.submit(job)
        try:
            return await future
        finally:
            job.is_cancelled = True

    def close(self) -> None:
        """End the threads after their present slices."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout=1.0)

    def _add(self, job: Job) -> None:
        self._waiting.setdefault(job.owner, deque()).append(job)
        self._changed.notify()

    def _work(self) -> None:
        lower_priority()
        while (job := self._next()) is not None:
            is_over = job.is_cancelled or self._step(job)
            if is_over:
                job.steps.close()  # its tree is free when the question no longer counts
            with self._changed:
                if is_over:
                    self._count -= 1
                else:
                    self._add(job)
            del job

    def _next(self) -> Job | None:
        """Wait for a job of the owner whose turn it is; None when the engine is closed."""
        with self._changed:
            while not self._waiting and not self._is_closed:
                self._changed.wait()
            if self._is_closed:
                return None
            owner, jobs = self._waiting.popitem(last=False)
            job = jobs.popleft()
            if jobs:
                self._waiting[owner] = jobs
            return job

    def _step(self, job: Job) -> bool:
        """Run one slice; return whether the question is answered."""
        try:
            answer = next(job.steps)
        except StopIteration:
            return True
        except RookeryError as error:
            job.deliver({"error": str(error)})
            return True
        except Exception:
            _log.exception("a question to the web app failed")
            job.deliver({"error": FAILED})
            return True
        if answer is not None and not job.is_cancelled:
            job.deliver(answer)
        return False


def to_loop(receive: Callable[[Answer], None]) -> Callable[[Answer], None]:
    """Return a function for worker threads that lets the running event loop receive answers."""
    loop = asyncio.get_running_loop()

    def deliver(answer: Answer) -> None:
        with suppress(RuntimeError):  # the loop is closed, because the server ends
            loop.call_soon_threadsafe(receive, answer)

    return deliver
