"""The queue of task parts: which wait, which worker runs which, and the results.

A part whose worker was lost goes to another worker, unless too many workers were lost with it.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Sequence

from rookery.arena import PartResult
from rookery.training.evaluation.tasks import EvaluationTask, PartDone, PartRefused, RunPart, Tasks
from rookery.workers import WorkerPool

MAX_LOSSES = 3
"""Workers that may be lost with the same part before the part counts as the cause."""


class TaskQueue:
    """The parts of tasks, each assigned to at most one worker at a time."""

    def __init__(self, tasks: Sequence[EvaluationTask]) -> None:
        self.message = Tasks(tuple(tasks))
        """Sent to a worker before its first part."""
        self.parts = [
            RunPart(n, part) for n, task in enumerate(tasks) for part in range(task.parts)
        ]
        self._waiting = deque(self.parts)
        self._assigned: dict[int, RunPart] = {}
        self._informed: set[int] = set()
        """Workers that know the tasks."""
        self._losses: Counter[RunPart] = Counter()
        self._results: dict[RunPart, PartResult] = {}
        self.seconds: defaultdict[int, float] = defaultdict(float)
        """Time that the parts of each task have taken, the sum over all workers."""
        self.failure = ""
        """Why the tasks cannot be completed; empty if they can."""

    @property
    def is_done(self) -> bool:
        """Whether all parts have results."""
        return len(self._results) == len(self.parts)

    @property
    def share_done(self) -> float:
        """The share of the parts that have results, from 0 to 1."""
        return len(self._results) / max(1, len(self.parts))

    def welcome(self, worker: int) -> None:
        """Note that a worker was started: it does not know the tasks."""
        self._informed.discard(worker)

    def share(self, pool: WorkerPool, leaving: Collection[int] = ()) -> None:
        """Give a part to every ready worker that has none and stays, as long as any waits."""
        ready = pool.ready()
        self.return_lost(ready, pool.last_failure)
        for number in ready:
            if number not in leaving and (part := self.assign(number)):
                if number not in self._informed:
                    self._informed.add(number)
                    pool.send(number, self.message)
                pool.send(number, part)

    def assign(self, worker: int) -> RunPart | None:
        """Return a part for a worker to run; None if it has one, or if none waits."""
        if worker in self._assigned or not self._waiting:
            return None
        self._assigned[worker] = self._waiting.popleft()
        return self._assigned[worker]

    def has_part(self, worker: int) -> bool:
        """Return whether a worker has a part to run."""
        return worker in self._assigned

    def complete(self, worker: int, reply: PartDone | PartRefused) -> None:
        """Take a worker's reply."""
        self._assigned.pop(worker, None)
        if isinstance(reply, PartRefused):
            self.failure = reply.reason
        else:
            self._results[RunPart(reply.task, reply.part)] = reply.result
            self.seconds[reply.task] += reply.seconds

    def return_lost(self, present: Sequence[int], last_failure: str) -> None:
        """Put back the parts of workers that are no longer present; `last_failure` says why."""
        for worker in self._assigned.keys() - set(present):
            part = self._assigned.pop(worker)
            self._losses[part] += 1
            if self._losses[part] == MAX_LOSSES:
                self.failure = f"{MAX_LOSSES} workers were lost with the same part"
                self.failure += f"; the last one {last_failure}"
            self._waiting.appendleft(part)

    def results(self) -> list[list[PartResult]]:
        """Return the results, by task and part."""
        found: list[list[PartResult]] = [[] for _ in self.message.tasks]
        for part in self.parts:
            found[part.task].append(self._results[part])
        return found
