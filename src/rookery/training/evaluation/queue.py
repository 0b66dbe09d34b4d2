"""The docket: the parts of cases that are to be looked at, who has which, what was seen.

A part whose judge died goes to another one, unless it has killed too many; what was seen twice
counts once.
"""

from collections import Counter, deque
from collections.abc import Sequence

from rookery.arena import PartResult
from rookery.training.evaluation.tasks import EvaluationTask
from rookery.workers import Message

MOST_DEATHS = 3
"""Judges that may die over a part before it is taken for the reason."""

Task = tuple[int, int]
"""The number of a case, and one of its parts."""


class TaskQueue:
    """What is to be looked at; judges are known by their place in a crew."""

    def __init__(self, cases: Sequence[EvaluationTask]) -> None:
        self._cases = cases
        self.tasks = [(n, part) for n, case in enumerate(cases) for part in range(case.parts)]
        self._waiting = deque(self.tasks)
        self._held: dict[int, Task] = {}
        self._deaths: Counter[Task] = Counter()
        self._seen: dict[Task, PartResult] = {}
        self.failure = ""
        """Why it cannot be done, or an empty text."""

    @property
    def is_done(self) -> bool:
        """Whether everything was seen."""
        return len(self._seen) == len(self.tasks)

    def hand_out(self, evaluate: int) -> Message | None:
        """A task for a judge, unless it has one or none is left."""
        if evaluate in self._held or not self._waiting:
            return None
        case, part = self._held[evaluate] = self._waiting.popleft()
        return Message("look", {"case": case, "part": part})

    def take(self, evaluate: int, message: Message) -> None:
        """What a judge has seen, or why no judge at all can look at it."""
        self._held.pop(evaluate, None)
        if message.kind == "refused":
            self.failure = message.header["reason"]
        else:
            self._seen[message.header["case"], message.header["part"]] = message.header["look"]

    def take_back(self, present: Sequence[int], last_words: str) -> None:
        """Let others have the tasks of the judges that are not present any more."""
        for evaluate in [each for each in self._held if each not in present]:
            task = self._held.pop(evaluate)
            self._deaths[task] += 1
            if self._deaths[task] == MOST_DEATHS:
                self.failure = f"{MOST_DEATHS} judges failed at the same part"
                self.failure += f", the last one: {last_words}"
            self._waiting.appendleft(task)

    def look_here(self) -> None:
        """Look at everything in this process."""
        for number, part in self.tasks:
            self._seen[number, part] = self._cases[number].look(part)

    def looks(self) -> list[list[PartResult]]:
        """What was seen, case by case, part by part."""
        return [
            [self._seen[number, part] for part in range(case.parts)]
            for number, case in enumerate(self._cases)
        ]
