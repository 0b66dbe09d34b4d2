"""Worker threads that all users share: every open question gets short slices of time in turn.

A question is a generator: each step takes a moment and yields an answer, None, or positions to
evaluate. A thread takes turns between users, and between the questions of one user. Its turn may
hold a step of many questions, whose positions then become one batch of the network. The threads
have a low priority: a training on the same machine goes first.
"""

import asyncio
import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rookery.base import ConfigError, RookeryError
from rookery.interface.web.work_threads import prepare_thread
from rookery.search import Evaluator

MAX_WAITING = 256
"""Questions of all users together."""
BUSY = "the server has too many questions at once; try again later"
FAILED = "the server could not answer; its terminal says why"
Answer = dict[str, Any]
Floats = NDArray[np.float32]


class Wanted(NamedTuple):
    """Positions that a search wants evaluated; what it yielded them to sends the outputs."""

    evaluator: Evaluator
    planes: Floats


Steps = Generator[Answer | Wanted | None, Any, None]
_log = logging.getLogger(__name__)


class Job:
    """One question in the queue."""

    def __init__(self, owner: object, steps: Steps, deliver: Callable[[Answer], None]) -> None:
        """`deliver` gets answers from a worker thread, at last one with an error or `done`."""
        self.owner, self.steps, self.deliver = owner, steps, deliver
        self.is_cancelled = False
        self.outputs: tuple[Floats, Floats] | Exception | None = None
        """What the next step gets: logits and results, or why there are none."""


class Engine:
    """A queue of questions, and the threads that answer them."""

    def __init__(self, threads: int, *, name: str, jobs_per_turn: int = 1) -> None:
        self._jobs_per_turn = jobs_per_turn
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
        prepare_thread()
        while jobs := self._next():
            wanted = list[tuple[Job, Wanted]]()
            while jobs:
                self._run(jobs.pop(0), wanted)
            evaluate_all(wanted)
            with self._changed:
                for job, _ in wanted:
                    self._add(job)

    def _run(self, job: Job, wanted: list[tuple[Job, Wanted]]) -> None:
        """Run a step of a job; queue it again, or add it to those that wait for the network."""
        is_over = job.is_cancelled or self._step(job, wanted)
        if is_over:
            job.steps.close()  # its tree is free when the question no longer counts
        with self._changed:
            if is_over:
                self._count -= 1
            elif not (wanted and wanted[-1][0] is job):
                self._add(job)

    def _next(self) -> list[Job]:
        """Wait for jobs, one per owner, in turns; none when the engine is closed."""
        with self._changed:
            while not self._waiting and not self._is_closed:
                self._changed.wait()
            if self._is_closed:
                return []
            found, later = list[Job](), list[tuple[object, deque[Job]]]()
            while self._waiting and len(found) < self._jobs_per_turn:
                owner, jobs = self._waiting.popitem(last=False)
                found.append(jobs.popleft())
                if jobs:
                    later.append((owner, jobs))
            self._waiting.update(later)
            return found

    def _step(self, job: Job, wanted: list[tuple[Job, Wanted]]) -> bool:
        """Run one step; return whether the question is answered."""
        outputs, job.outputs = job.outputs, None
        try:
            if isinstance(outputs, Exception):
                answer = job.steps.throw(outputs)
            else:
                answer = job.steps.send(outputs)
        except StopIteration:
            return True
        except RookeryError as error:
            job.deliver({"error": str(error)})
            return True
        except Exception:
            _log.exception("a question to the web app failed")
            job.deliver({"error": FAILED})
            return True
        if isinstance(answer, Wanted):
            wanted.append((job, answer))
        elif answer is not None and not job.is_cancelled:
            job.deliver(answer)
        return False


def evaluate_all(wanted: Sequence[tuple[Job, Wanted]]) -> None:
    """Evaluate the positions of several jobs, one batch for each network."""
    for evaluator in {id(each.evaluator): each.evaluator for _, each in wanted}.values():
        group = [(job, each.planes) for job, each in wanted if each.evaluator is evaluator]
        try:
            logits, wdl = evaluator(np.concatenate([planes for _, planes in group]))
        except Exception as error:
            for job, _ in group:
                job.outputs = error
            continue
        first = 0
        for job, planes in group:
            part = slice(first, first + len(planes))
            job.outputs = logits[part], wdl[part]
            first = part.stop


def to_loop(receive: Callable[[Answer], None]) -> Callable[[Answer], None]:
    """Return a function for worker threads that lets the running event loop receive answers."""
    loop = asyncio.get_running_loop()

    def deliver(answer: Answer) -> None:
        with suppress(RuntimeError):  # the loop is closed, because the server ends
            loop.call_soon_threadsafe(receive, answer)

    return deliver
