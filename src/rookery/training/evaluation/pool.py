"""Matches and measurements over a crew of judges, or in this process: the result is the same.

The parts of all cases are tasks. A judge that is ready has one of them; that of a judge that died
goes to another.
"""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace

from rookery import __version__
from rookery.arena import MatchPlan, MatchReport, PartResult, Strength
from rookery.base import RookeryError
from rookery.games import Game
from rookery.training.actors.actor import thread_limits
from rookery.training.evaluation.player_spec import PlayerSpec
from rookery.training.evaluation.queue import TaskQueue
from rookery.training.evaluation.tasks import (
    EvaluationTask,
    MatchTask,
    StrengthTask,
    evaluate,
    one_thread_for_nets,
    pack_cases,
    source_of,
)
from rookery.workers import Cluster, Message, ProcessWorker, Worker, WorkerEvent, WorkerPool

IDLE_SECONDS = 0.01
WORTH_SHARING = 8
"""Tasks; for fewer, such as all of Tic-Tac-Toe, starting judges takes longer than they save."""
PART_ON_GPU = 2048
"""Pairs that a GPU plays in lockstep, at least: it is slow with a few."""

Tell = Callable[[str], None]


def play_match_over(
    game: Game,
    plan: MatchPlan,
    a: PlayerSpec,
    b: PlayerSpec,
    *,
    workers: int | None,
    tell: Tell,
    cluster: str = "",
) -> MatchReport:
    """Let two contestants play over so many judges: 0 = in this process, None = as many as pay.

    `tell` hears of judges that failed; `cluster` is the address of a Ray cluster they run on.
    """
    with one_thread_for_nets():
        a, b = (_settled(each, game, tell) for each in (a, b))
        if a.is_on_gpu() or b.is_on_gpu():
            plan = replace(plan, smallest_part=PART_ON_GPU)
        case = MatchTask(source_of(game), plan, a, b, digest=game.digest)
        (looks,) = look_at([case], workers=workers, tell=tell, cluster=cluster)
        return case.conclude(looks)


def measure_over(
    game: Game,
    players: Sequence[PlayerSpec],
    *,
    seed: int,
    workers: int | None,
    tell: Tell,
    cluster: str = "",
) -> list[Strength]:
    """How strong each contestant is, by the ruler of `game`; see `play_match_over`."""
    with one_thread_for_nets():
        settled = [_settled(each, game, tell) for each in players]
        source, digest = source_of(game), game.digest
        cases = [StrengthTask(source, each, seed, digest=digest) for each in settled]
        looks = look_at(cases, workers=workers, tell=tell, cluster=cluster)
        return [case.conclude(each) for case, each in zip(cases, looks, strict=True)]


def _settled(player: PlayerSpec, game: Game, tell: Tell) -> PlayerSpec:
    """The contestant with nothing left to be chosen; what is special about it is told."""
    settled = player.settled(game)
    for remark in settled.remarks():
        tell(remark)
    return settled


def look_at(
    cases: Sequence[EvaluationTask], *, workers: int | None, tell: Tell, cluster: str = ""
) -> list[list[PartResult]]:
    """What is seen in every part of every case."""
    docket = TaskQueue(cases)
    with closing(Cluster(cluster)) if cluster else nullcontext() as ray:
        count = _enough(len(docket.tasks), ray) if workers is None else workers
        if count or ray:
            count = max(1, min(count, len(docket.tasks)))
            EvaluationPool(cases, docket, workers=count, tell=tell, cluster=ray).look()
        else:
            docket.look_here()
    return docket.looks()


def _enough(tasks: int, cluster: Cluster | None) -> int:
    """As many judges as pay."""
    if cluster is not None:
        return cluster.capacity().cpus
    cores = os.cpu_count() or 1
    return cores if cores > 1 and tasks >= WORTH_SHARING else 0


class EvaluationPool:
    """A crew of judges that a docket is shared out to."""

    def __init__(
        self,
        cases: Sequence[EvaluationTask],
        docket: TaskQueue,
        *,
        workers: int,
        tell: Tell,
        cluster: Cluster | None,
    ) -> None:
        self._cases, self._docket, self._cluster = pack_cases(cases), docket, cluster
        self._workers, self._tell = workers, tell
        self._last_words = ""

    def look(self) -> None:
        """See all of it done."""
        self._crew = WorkerPool("judge", self._workers, self._start, tell=self._note)
        try:
            while not self._docket.is_done:
                self._attend()
                if self._docket.failure:
                    raise RookeryError(self._docket.failure)
                time.sleep(IDLE_SECONDS)
        finally:
            self._crew.close()

    def _attend(self) -> None:
        """Hear the crew, and give a task to everybody who has none."""
        for number, message in self._crew.poll():
            if message.kind == "ready":
                self._welcome(number, message)
            else:
                self._docket.take(number, message)
        ready = self._crew.ready()
        self._docket.take_back(ready, self._last_words)
        for number in ready:
            if task := self._docket.hand_out(number):
                self._crew.send(number, task)

    def _welcome(self, number: int, message: Message) -> None:
        """Tell a new judge of the cases, unless it comes from another Rookery than this one."""
        if message.header["rookery"] != __version__:
            version = message.header["rookery"]
            self._crew.drop_worker(number, f"runs rookery {version}, expected {__version__}")
            return
        self._crew.send(number, self._cases)

    def _note(self, event: WorkerEvent) -> None:
        self._last_words = event.what
        self._tell(f"{event.worker} {event.what}; {event.done}")

    def _start(self, name: str, number: int, incarnation: int) -> Worker:
        if self._cluster is not None:
            return self._cluster.start(name, evaluate, {}, environment=thread_limits(1))
        threads = max(1, (os.cpu_count() or 1) // self._workers)
        return ProcessWorker(name, evaluate, {}, environment=thread_limits(threads))
