"""Matches and strength tests, by evaluation workers or in this process, with the same result."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace

from rookery.arena import MatchPlan, MatchReport, PartResult, Strength
from rookery.base import RookeryError, available_cores
from rookery.games import Game
from rookery.training.evaluation.player_spec import PlayerSpec
from rookery.training.evaluation.queue import TaskQueue
from rookery.training.evaluation.tasks import (
    EvaluationTask,
    MatchTask,
    PartDone,
    PartRefused,
    StrengthTask,
    evaluation_worker,
    one_thread_for_nets,
    source_of,
)
from rookery.workers import Cluster, ProcessWorker, Ready, Worker, WorkerPool, thread_limits

IDLE_SECONDS = 0.01
MIN_PARTS = 8
"""With fewer parts, as for all of Tic-Tac-Toe, starting workers takes longer than they save."""
PAIRS_ON_GPU = 2048
"""Minimum pairs of games that a GPU plays in lockstep: it is slow with few."""

OnNote = Callable[[str], None]
Evaluate = Callable[[Sequence[EvaluationTask]], list[list[PartResult]]]
"""Returns the results of all parts of all tasks."""


def play_match_over(
    game: Game,
    plan: MatchPlan,
    a: PlayerSpec,
    b: PlayerSpec,
    *,
    workers: int | None,
    on_note: OnNote,
    cluster: str = "",
    devices: Sequence[str] = (),
) -> MatchReport:
    """Play a match with some number of workers: 0 = in this process, None = as many as worthwhile.

    `on_note` is told of workers that fail; `cluster` is the address of a Ray cluster to run on.
    Worker n evaluates networks on device n of `devices`, modulo their number.
    """
    with one_thread_for_nets():
        a, b = (resolve(player, game, on_note) for player in (a, b))
        if a.is_on_gpu() or b.is_on_gpu():
            pairs_each = -(-plan.games // (2 * max(1, len(devices))))
            plan = replace(plan, smallest_part=min(PAIRS_ON_GPU, pairs_each))
        task = MatchTask(source_of(game), plan, a, b, game.digest)
        (results,) = evaluate(
            [task], workers=workers, on_note=on_note, cluster=cluster, devices=devices
        )
        return task.combine(results)


def measure_over(
    game: Game,
    players: Sequence[PlayerSpec],
    *,
    seed: int,
    workers: int | None,
    on_note: OnNote,
    cluster: str = "",
    devices: Sequence[str] = (),
) -> list[Strength]:
    """Return the strength of each player by the game's test; see `play_match_over`."""
    with one_thread_for_nets():
        resolved = [resolve(player, game, on_note) for player in players]
        tasks = [StrengthTask(source_of(game), each, seed, game.digest) for each in resolved]
        results = evaluate(
            tasks, workers=workers, on_note=on_note, cluster=cluster, devices=devices
        )
        return [task.combine(found) for task, found in zip(tasks, results, strict=True)]


def resolve(player: PlayerSpec, game: Game, on_note: OnNote) -> PlayerSpec:
    """Return the player with device and backend chosen; report how its network is evaluated."""
    resolved = player.resolve(game)
    for note in resolved.notes():
        on_note(note)
    return resolved


def evaluate(
    tasks: Sequence[EvaluationTask],
    *,
    workers: int | None,
    on_note: OnNote,
    cluster: str = "",
    devices: Sequence[str] = (),
) -> list[list[PartResult]]:
    """Return the results of all parts of all tasks; see `play_match_over`."""
    most = sum(task.parts for task in tasks)
    with evaluating(
        workers, most, on_note=on_note, cluster=cluster, devices=devices
    ) as evaluate_all:
        return evaluate_all(tasks)


@contextmanager
def evaluating(
    workers: int | None,
    most: int,
    *,
    on_note: OnNote,
    cluster: str = "",
    devices: Sequence[str] = (),
) -> Iterator[Evaluate]:
    """Yield a function that evaluates tasks; its workers stay until the end of the context.

    There are at most `most` workers.
    """
    is_on_gpu = any(device.startswith("cuda") for device in devices)
    with closing(Cluster(cluster)) if cluster else nullcontext() as ray:
        number = workers or 0
        if workers is None or (ray is not None and not workers):
            number = _worthwhile(most, ray, is_on_gpu=is_on_gpu)
        if not number and ray is None:
            yield _evaluate_here
            return
        size = max(1, min(number, most))
        with closing(EvaluationPool(size, on_note=on_note, cluster=ray, devices=devices)) as pool:
            yield pool.evaluate


def _evaluate_here(tasks: Sequence[EvaluationTask]) -> list[list[PartResult]]:
    return [[task.measure_part(part) for part in range(task.parts)] for task in tasks]


def _worthwhile(parts: int, cluster: Cluster | None, *, is_on_gpu: bool) -> int:
    """Return the number of workers that saves time, 0 if none does."""
    if cluster is not None:
        capacity = cluster.capacity()
        return capacity.gpus if is_on_gpu else capacity.cpus
    cores = available_cores()
    return cores if cores > 1 and parts >= MIN_PARTS else 0


class EvaluationPool:
    """Evaluation workers, in processes of this machine or on a cluster."""

    def __init__(
        self,
        size: int,
        *,
        on_note: OnNote,
        cluster: Cluster | None = None,
        devices: Sequence[str] = (),
    ) -> None:
        self._size, self._cluster, self._devices = size, cluster, devices or ("",)
        self._on_note = on_note
        self._pool = WorkerPool(
            "evaluation worker", size, self._start, on_event=lambda event: on_note(str(event))
        )

    def evaluate(self, tasks: Sequence[EvaluationTask]) -> list[list[PartResult]]:
        """Return the results of all parts of all tasks."""
        queue = TaskQueue(tasks)
        while not queue.is_done:
            self._attend(queue)
            if queue.failure:
                raise RookeryError(queue.failure)
            time.sleep(IDLE_SECONDS)
        return queue.results()

    def close(self) -> None:
        """End all workers."""
        self._pool.close()

    def _attend(self, queue: TaskQueue) -> None:
        """Receive replies, and give a part to every worker that has none."""
        for number, message in self._pool.poll():
            match message:
                case Ready():
                    queue.welcome(number)
                case PartDone() | PartRefused():
                    queue.complete(number, message)
                    for note in message.notes if isinstance(message, PartDone) else ():
                        self._on_note(note)
        queue.share(self._pool)

    def _start(self, name: str, number: int, incarnation: int) -> Worker:
        device = self._devices[number % len(self._devices)]
        if self._cluster is not None:
            gpus, limits = float(device.startswith("cuda")), thread_limits(1)
            return self._cluster.start(
                name,
                evaluation_worker,
                "cuda:0" if gpus else device,  # of those that Ray shows to the worker
                gpus=gpus,
                environment=limits,
            )
        limits = thread_limits(max(1, available_cores() // self._size))
        return ProcessWorker(name, evaluation_worker, device, environment=limits)
