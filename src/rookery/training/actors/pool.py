"""The actors of a run, as the training loop sees them: self-play in other processes.

An actor plays some moves for every order. Overlapped, it has one more order waiting, so that it
never idles, unless more games have arrived than the learner can use (`run.max_lag`); phased, all
actors play, then all wait for the learner. Weights are sent with a version after every iteration:
games played with older ones are stale, and by how much is in the statistics. With `auto`, and on a
cluster unless a number was asked for, the number of actors follows the load.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from rookery.games import Game
from rookery.gpu import find_devices
from rookery.nets import BackendChoice
from rookery.replay import from_columns
from rookery.selfplay import Played
from rookery.training.actors.actor import ActorReady, GamesPlayed, NewWeights, Play, actor
from rookery.training.actors.layout import ActorLayout, actor_layout
from rookery.training.actors.places import ActorPlaces
from rookery.training.actors.speeds import ActorSpeeds
from rookery.training.config import Config, RunConfig, to_json
from rookery.training.evaluation.queue import TaskQueue
from rookery.training.evaluation.tasks import EvaluationTask, PartDone, PartRefused
from rookery.training.progress import ActorStatus
from rookery.training.self_players import Step
from rookery.workers import (
    Cluster,
    ProcessWorker,
    Worker,
    WorkerEvent,
    WorkerPool,
    WorkersLost,
    thread_limits,
)

IDLE_SECONDS = 0.01
ORDERS = 4
"""Orders in which an actor plays its moves of an iteration."""
IDLE_SHARE = 0.25
"""Share of an iteration; who waits for longer has too little to do."""
STEPS = 8
"""Up to one actor in this many is added or retired at once."""


class ActorPool:
    """Self-play by actors."""

    kind = "actors"

    def __init__(
        self,
        game: Game,
        config: Config,
        *,
        choice: BackendChoice,
        era: int,
        on_event: Callable[[WorkerEvent], None],
        cluster: Cluster | None,
        is_over: Callable[[], bool],
    ) -> None:
        """`choice` is how the network is evaluated here; another `era` gives other seeds.

        `is_over` returns whether the run's time is over: then nothing waits for failing actors.
        """
        self._is_over = is_over
        self.choice, self._game, self._config, self._era = choice, game, config, era
        self._cluster, self._on_event = cluster, on_event
        self._here = find_devices(config.run.devices)[0].type
        self._is_overlapped = config.run.mode == "overlapped"
        layout = actor_layout(config.run, cluster)
        self._places = ActorPlaces(layout, is_cluster=cluster is not None)
        self._use_layout(layout)
        self._pool: WorkerPool | None = None
        self._weights = NewWeights(0, b"")
        self._orders: defaultdict[int, set[int]] = defaultdict(set)
        """Orders that each actor has not yet carried out."""
        self._last_order = 0
        self._arrived: list[Played] = []
        self._leaving: dict[int, str] = {}
        """Actors that retire when their orders are carried out, and why."""
        self._moving: set[int] = set()
        """Actors that start again in another place when their orders are carried out."""
        self._num_idle = 0
        """Actors that have left because games waited for the learner."""
        self._speeds = ActorSpeeds()
        self._queue = TaskQueue(())
        self._iteration, self._progress = 0, 0.0
        self._begun = self._attended = 0.0
        self._learner_waited = self._games_waited = 0.0
        self._begin_iteration()

    @property
    def pool(self) -> WorkerPool:
        """The workers, which are started with the first weights."""
        if self._pool is None:
            size, policy = self._layout.size, self._config.run.restart_policy()
            self._pool = WorkerPool(
                "actor", size, self._start, policy=policy, on_event=self._on_event
            )
        return self._pool

    @property
    def actors(self) -> ActorStatus:
        """How many actors there are, and how stale their weights."""
        staleness = mean(self._staleness) if self._staleness else 0.0
        return ActorStatus(*self.count(), staleness, tuple(self.pool.stats().values()))

    def count(self) -> tuple[int, int]:
        """Return how many actors are ready, and how many there are, without those that leave."""
        staying = [number for number in self.pool.numbers() if number not in self._leaving]
        return len(set(staying) & set(self.pool.ready())), len(staying)

    def describe(self) -> str:
        """Return who plays, and where."""
        size = self.count()[1]
        devices = ",".join(dict.fromkeys(self._layout.devices))
        return f"{size} actor{'s' if size > 1 else ''} on {devices}"

    def play(self, iteration: int, *, progress: float, check: Callable[[], None]) -> Step:
        """Return the games that have arrived; phased, wait for those of a whole iteration."""
        self._iteration, self._progress = iteration, progress
        self._is_within_iteration = True
        self._attend(may_order=True)
        while self._is_waiting():
            begun = time.perf_counter()
            time.sleep(IDLE_SECONDS)
            self._attend(may_order=not self._has_enough())
            check()
            self._learner_waited += time.perf_counter() - begun
            if self._is_over() and self.pool.last_failure and not self.pool.ready():
                if iteration == 0:
                    raise WorkersLost(
                        "no actor has played a game within the run's time; the last one "
                        f"{self.pool.last_failure}"
                    )
                return Step(self._hand_over(), is_complete=True)
        return Step(self._hand_over(), self._has_enough())

    def drain(self) -> tuple[Played, ...]:
        """Return games of an iteration that was interrupted; others wait for the next one."""
        return self._hand_over() if self._is_within_iteration else ()

    def attend(self) -> None:
        """Receive games and give orders while the learner learns."""
        begun, self._attended = self._attended, time.perf_counter()
        if self._is_overlapped and not self._is_playing():
            self._games_waited += self._attended - begun
        self._attend(may_order=self._is_overlapped)

    def publish(self, net: nn.Module, version: int, weights: Callable[[], bytes]) -> None:
        """Send new weights to all actors; those that start later get them, too."""
        self._weights = NewWeights(version, weights())
        for number in self.pool.ready():
            self.pool.send(number, self._weights)

    def figures(self) -> dict[str, Any]:
        """Return figures of the iteration, and adapt the number of actors to the load."""
        seconds = max(time.perf_counter() - self._begun, 1e-9)
        waited = {
            "learner_waited": self._learner_waited / seconds,
            "games_waited": self._games_waited / seconds,
        }
        staleness, workers = self.actors.staleness, self._worker_figures(seconds)
        self._follow_cluster()
        if self._is_overlapped:
            self._follow_load(**waited)
        self._begin_iteration()
        return {"actors": {"staleness": staleness, **waited, "workers": workers}}

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the games in progress: they are the actors' own and begin again."""
        return {"none": np.zeros(0)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned."""

    def evaluate(self, tasks: tuple[EvaluationTask, ...]) -> TaskQueue:
        """Have tasks carried out between orders; the queue fills while actors are attended to."""
        self._queue = TaskQueue(tasks)
        return self._queue

    def attend_tasks(self) -> None:
        """Carry on with the tasks alone: no more orders."""
        self._attend(may_order=False)
        self._arrived = []
        time.sleep(IDLE_SECONDS)

    def scale(self, run: RunConfig) -> None:
        """Continue with the number of actors and the devices of other settings.

        Actors that leave or move first carry out their orders. Those that stay keep their games.
        """
        self._config = replace(self._config, run=run)
        self._use_layout(actor_layout(run, self._cluster))
        self.pool.keep_dropped()
        size, ready = self._layout.size, self.pool.ready()
        present = sorted(self.pool.numbers(), key=lambda number: (number not in ready, number))
        self._leaving = dict.fromkeys(present[size:], "leaves: the run was scaled")
        self._num_idle = 0
        self._moving = {number for number in present[:size] if self._places.is_elsewhere(number)}
        for _ in range(size - len(present)):
            self.pool.add_worker("joins: the run was scaled")

    def close(self) -> None:
        """End all actors."""
        if self._pool is not None:
            self._pool.close()

    def _use_layout(self, layout: ActorLayout) -> None:
        self._layout = layout
        self._places.use(layout)
        self.games_each = max(1, self._config.selfplay.games // layout.sharing)
        self.positions = layout.size * self.games_each * self._config.run.moves
        """Positions of an iteration."""

    def _begin_iteration(self) -> None:
        self._begun = self._attended = time.perf_counter()
        self._learner_waited = self._games_waited = 0.0
        self._is_within_iteration = False
        self._positions = self._waiting_positions()
        self._played: Counter[int] = Counter()
        self._staleness: list[int] = []

    def _is_waiting(self) -> bool:
        """Whether the loop must wait: for any games, or in a phased run for all."""
        if self._is_overlapped:
            return not self._arrived
        return not self._has_enough() or self._is_playing()

    def _has_enough(self) -> bool:
        """Whether an iteration's positions have arrived, or the run's time is over."""
        is_over = self._positions > 0 and self._progress >= 1.0
        return self._positions >= self.positions or is_over

    def _hand_over(self) -> tuple[Played, ...]:
        played, self._arrived = tuple(self._arrived), []
        return played

    def _waiting_positions(self) -> int:
        """Return the positions of games that have arrived and were not yet handed over."""
        return sum(played.report.positions for played in self._arrived)

    def _is_playing(self) -> bool:
        return any(self._orders[number] for number in self.pool.ready())

    def _attend(self, *, may_order: bool) -> None:
        """Receive messages; give orders and tasks to actors that have none."""
        for number, message in self.pool.poll():
            match message:
                case ActorReady():
                    self._welcome(number, message)
                case GamesPlayed():
                    self._receive(number, message)
                case PartDone() | PartRefused():
                    self._complete(number, message)
        self._end_idle()
        self._queue.share(self.pool, leaving={*self._leaving, *self._moving})
        max_waiting = self._config.run.max_lag * self.positions
        if may_order and self._waiting_positions() <= max_waiting:
            self._give_orders(2 if self._is_overlapped else 1)

    def _welcome(self, number: int, message: ActorReady) -> None:
        if message.games < self.games_each:
            what = f"has no memory for {self.games_each} games"
            done = f"continues with {message.games}"
            self.pool.report_event(number, what, done, fallback="memory")
        self._orders[number].clear()
        self._queue.welcome(number)
        self.pool.send(number, self._weights)

    def _complete(self, number: int, reply: PartDone | PartRefused) -> None:
        self._queue.complete(number, reply)
        for note in reply.notes if isinstance(reply, PartDone) else ():
            what, _, done = note.partition("; ")
            self.pool.report_event(number, f"measures strength: {what}", done, fallback="memory")

    def _receive(self, number: int, message: GamesPlayed) -> None:
        if message.order not in self._orders[number]:  # a repaired connection may deliver twice
            return
        self._orders[number].remove(message.order)
        self._positions += message.report.positions
        self._played[number] += message.report.positions
        self._staleness.append(self._iteration - message.version)
        rows = from_columns(message.columns, game=self._game)
        self._arrived.append(Played(rows, message.report))

    def _give_orders(self, each: int) -> None:
        """Make sure that every actor has `each` orders."""
        moves = max(1, self._config.run.moves // ORDERS)
        for number in self.pool.ready():
            if number in self._leaving or number in self._moving:
                continue
            while len(self._orders[number]) < each:
                self._last_order += 1
                self._orders[number].add(self._last_order)
                order = Play(self._last_order, moves, self._progress, self._iteration)
                self.pool.send(number, order)

    def _end_idle(self) -> None:
        """End the actors that are to leave or move and have nothing left to do."""
        ready, present = self.pool.ready(), self.pool.numbers()
        for number in (*self._leaving, *self._moving):
            if number in ready and (self._orders[number] or self._queue.has_part(number)):
                continue
            why = self._leaving.pop(number, "")
            self._moving.discard(number)
            if number in present and why:
                self.pool.retire(number, why)
            elif number in present and self._places.is_elsewhere(number):
                self.pool.restart(number, f"moves to {self._places.place(number)[0]}")

    def _follow_cluster(self) -> None:
        """Add actors if machines have joined, unless fewer than there could be are enough.

        Actors of machines that left wait for others.
        """
        if self._cluster is None or not self._layout.follows:
            return
        before, found = self._layout.max_size, actor_layout(self._config.run, self._cluster)
        self._layout = replace(self._layout, max_size=found.max_size)
        if not self._num_idle:
            for _ in range(min(found.max_size - before, found.max_size - self._size())):
                self.pool.add_worker("has space: the cluster has grown")

    def _follow_load(self, *, learner_waited: float, games_waited: float) -> None:
        """Add or retire actors, by the shares of the iteration that were spent waiting."""
        if not self._layout.follows:
            return
        size = self._size()
        step = max(1, size // STEPS)
        if learner_waited > IDLE_SHARE:
            why = f"is needed: the learner waited {learner_waited:.0%} of the time"
            for _ in range(min(step, self._layout.max_size - size)):
                self._add_where_idle(why)
        elif games_waited > IDLE_SHARE:
            playing = [number for number in self.pool.ready() if number not in self._leaving]
            idle = playing[1:][-step:]
            self._leaving |= dict.fromkeys(idle, "is not needed: games wait for the learner")
            self._num_idle += len(idle)

    def _add_where_idle(self, why: str) -> None:
        """Add an actor on the device with the lowest load, unless it is busy."""
        staying = self.pool.stats().keys() - self._leaving.keys()
        if self._places.choose(self.pool.next_number(), self.pool.stats(), staying):
            self.pool.add_worker(why)
            self._num_idle = max(0, self._num_idle - 1)

    def _size(self) -> int:
        """Return the number of actors that stay or will return."""
        return self.count()[1] + self.pool.num_cooling()

    def _worker_figures(self, seconds: float) -> list[dict[str, Any]]:
        """Return how every actor did in the last `seconds`; report those that are slow."""
        rates = {number: self._played[number] / seconds for number in self.pool.ready()}
        for number, what in self._speeds.newly_slow(rates).items():
            self.pool.report_event(number, what, "kept")
        return [
            {**asdict(stats), "positions_per_second": round(rates.get(number, 0.0), 1)}
            for number, stats in self.pool.stats().items()
        ]

    def _start(self, name: str, number: int, incarnation: int) -> Worker:
        device, gpus = self._places.start(number)
        is_alike = device.split(":")[0] == self._here
        job = {
            "config": to_json(self._config),
            "digest": self._game.digest,
            "device": device,
            "games": self.games_each,
            "backend": self.choice.backend if is_alike else "auto",
            "number": number,
            "incarnation": incarnation + 1000 * self._era,
        }
        threads, heartbeat = self._layout.threads, self._config.run.heartbeat_seconds
        limits = thread_limits(threads)
        if self._cluster is None:
            return ProcessWorker(name, actor, job, environment=limits, heartbeat_seconds=heartbeat)
        return self._cluster.start(
            name,
            actor,
            job,
            threads=threads,
            gpus=gpus,
            environment=limits,
            heartbeat_seconds=heartbeat,
        )
