"""The fleet: the actors of a run, where each of them plays, what it was told, how it does.

On one machine the games of a device are shared out among its actors; in a cluster every actor has
games of its own. On the CPU, with `auto`, the number of actors follows the load: one more while the
learner waits for games, one less while games wait for the learner.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from rookery import __version__
from rookery.gpu import find_devices
from rookery.training.actors.actor import actor, thread_limits
from rookery.training.config import Config, RunConfig, to_json
from rookery.training.evaluation.queue import TaskQueue
from rookery.training.evaluation.tasks import EvaluationTask, pack_cases
from rookery.workers import Cluster, Message, ProcessWorker, Worker, WorkerEvent, WorkerPool

IDLE_SHARE = 0.25
"""Of an iteration; who waits for longer has too little to do."""
SLOW_SHARE = 0.5
"""Of what the others play; an actor below it is called slow."""
SLOW_ITERATIONS = 3
"""In a row, before it is said."""


@dataclass(frozen=True)
class ActorLayout:
    """How many actors there are, and what each has to itself."""

    size: int
    most: int
    """The load may ask for so many."""
    devices: tuple[str, ...]
    """Actor n plays on the n-th, and round again."""
    sharing: int
    """Actors that share a device and its games."""
    threads: int


def actor_layout(run: RunConfig, cluster: Cluster | None) -> ActorLayout:
    """Where actors are to play, by the settings and what there is."""
    asked = _asked(run)
    if cluster is not None:
        return _muster_in(cluster, asked)
    devices, cores = tuple(map(str, find_devices(run.devices))), os.cpu_count() or 1
    if run.actors == "auto" and devices == ("cpu",):
        size = max(1, cores // 2)
        return ActorLayout(size, cores, devices, sharing=size, threads=1)
    size = asked or len(devices)
    sharing = -(-size // len(devices))
    return ActorLayout(size, size, devices, sharing=sharing, threads=max(1, cores // size))


def _asked(run: RunConfig) -> int:
    """The number of actors that was asked for, 0 where none was."""
    return int(run.actors) if run.actors.isdecimal() else 0


def _muster_in(cluster: Cluster, asked: int) -> ActorLayout:
    """One actor a GPU; without GPUs one a core, but for the learner's."""
    room = cluster.capacity()
    size = asked or room.gpus or max(1, room.cpus - 1)
    sharing = -(-size // room.gpus) if room.gpus else 1
    return ActorLayout(size, size, ("cuda:0" if room.gpus else "cpu",), sharing=sharing, threads=1)


class ActorPool:
    """The actors of a run, as its coordinator sees them."""

    def __init__(
        self,
        config: Config,
        *,
        inference: str,
        era: int,
        tell: Callable[[WorkerEvent], None],
        cluster: Cluster | None,
        digest: str = "",
    ) -> None:
        """`inference` is how the net is evaluated on this kind of device; another `era` has
        other seeds; `digest` is the SHA-256 of the rules file, empty for a shipped game."""
        self.config, self._cluster, self._digest = config, cluster, digest
        self._inference, self._era = inference, era
        self._here = find_devices(config.run.devices)[0].type
        self._muster = actor_layout(config.run, cluster)
        self.games_each = max(1, config.selfplay.games // self._muster.sharing)
        self.positions = self._muster.size * self.games_each * config.run.moves
        """Of an iteration."""
        self._orders: Counter[int] = Counter()
        self._serial = 0
        self._taken: set[int] = set()
        self._leaving: set[int] = set()
        self._played: Counter[int] = Counter()
        self._slow: Counter[int] = Counter()
        self._weights = Message("weights")
        self._docket, self._cases = TaskQueue([]), Message("cases")
        self._informed: set[int] = set()
        """Who knows the cases."""
        self._last_words = ""
        self._tell = tell
        self.crew = WorkerPool("actor", self._muster.size, self._start, tell=self._note)

    def publish(self, weights: Message) -> None:
        """Hand weights to everybody; whoever comes later gets them too."""
        self._weights = weights
        for number in self.crew.ready():
            self.crew.send(number, weights)

    def evaluate(self, cases: Sequence[EvaluationTask]) -> TaskQueue:
        """Have cases looked at between orders; the docket fills while the fleet is heard."""
        self._docket, self._cases, self._informed = TaskQueue(cases), pack_cases(cases), set()
        return self._docket

    def hear(self) -> Iterator[Message]:
        """What has come in, each order's games once; whoever is new is welcomed on the way."""
        for number, message in self.crew.poll():
            if message.kind == "ready":
                self._welcome(number, message)
            elif message.kind in ("seen", "refused"):
                self._docket.take(number, message)
            elif message.kind == "games":
                self._orders[number] -= 1
                if message.header["order"] not in self._taken:
                    self._taken.add(message.header["order"])
                    self._played[number] += message.header["report"]["positions"]
                    yield message

    def order(self, each: int, header: dict[str, Any]) -> None:
        """See to it that every actor has `each` orders, those not yet carried out included."""
        for number in self.crew.ready():
            if number in self._leaving:
                self._let_go(number)
                continue
            while self._orders[number] < each:
                self._orders[number] += 1
                self._serial += 1
                self.crew.send(number, Message("play", {"order": self._serial, **header}))

    def share_docket(self) -> None:
        """Give everybody something to look at, as long as there is something left."""
        ready = self.crew.ready()
        self._docket.take_back(ready, self._last_words)
        self._informed &= set(ready)
        for number in ready:
            if task := self._docket.hand_out(number):
                if number not in self._informed:
                    self._informed.add(number)
                    self.crew.send(number, self._cases)
                self.crew.send(number, task)

    def is_playing(self) -> bool:
        """Whether an order is still to be carried out."""
        return any(self._orders[number] for number in self.crew.ready())

    def follow_cluster(self) -> None:
        """Add actors where machines have joined; those of machines that left wait for others."""
        if self._cluster is not None and not _asked(self.config.run):
            for _ in range(self.crew.size(), actor_layout(self.config.run, self._cluster).size):
                self.crew.add_worker("has room: the cluster has grown")

    def follow_load(self, *, learner_waited: float, games_waited: float) -> None:
        """Add or retire an actor, by the shares of the last iteration that were spent waiting."""
        if self._muster.size == self._muster.most:
            return
        size = self.crew.size() - len(self._leaving)
        if learner_waited > IDLE_SHARE and size < self._muster.most:
            self.crew.add_worker(f"is needed: the learner waited {learner_waited:.0%} of the time")
        elif games_waited > IDLE_SHARE and size > 1 and (ready := self.crew.ready()):
            self._leaving.add(ready[-1])

    def figures(self, seconds: float) -> list[dict[str, Any]]:
        """How everybody did in the last `seconds`; those who lag behind are named."""
        played, self._played = self._played, Counter()
        rates = {number: played[number] / seconds for number in self.crew.ready()}
        for number in rates:
            self._judge_speed(number, rates)
        return [
            {**asdict(known), "positions_per_second": round(rates.get(number, 0.0), 1)}
            for number, known in self.crew.figures().items()
        ]

    def _note(self, event: WorkerEvent) -> None:
        self._last_words = event.what
        self._tell(event)

    def _judge_speed(self, number: int, rates: dict[int, float]) -> None:
        others = [rate for other, rate in rates.items() if other != number]
        usual = median(others) if others else 0.0
        self._slow[number] = self._slow[number] + 1 if rates[number] < SLOW_SHARE * usual else 0
        if self._slow[number] == SLOW_ITERATIONS:
            what = f"is slow: {rates[number]:.0f} positions/s, the others {usual:.0f}"
            self.crew.report_event(number, what, "kept")

    def _welcome(self, number: int, message: Message) -> None:
        """Give a new actor the weights, unless it comes from another Rookery than this one."""
        if (version := message.header["rookery"]) != __version__:
            self.crew.drop_worker(number, f"runs rookery {version}, expected {__version__}")
            return
        if (games := message.header["games"]) < self.games_each:
            what = f"has no memory for {self.games_each} games"
            self.crew.report_event(number, what, f"goes on with {games}")
        self._orders[number] = 0
        self.crew.send(number, self._weights)

    def _let_go(self, number: int) -> None:
        if not self._orders[number]:
            self._leaving.remove(number)
            self.crew.retire(number, "is not needed: games wait for the learner")

    def _start(self, name: str, number: int, incarnation: int) -> Worker:
        plan = self._muster
        device = plan.devices[number % len(plan.devices)]
        is_alike = device.split(":")[0] == self._here
        job = {
            "config": to_json(self.config),
            "digest": self._digest,
            "device": device,
            "games": self.games_each,
            "inference": self._inference if is_alike else "auto",
            "number": number,
            "incarnation": incarnation + 1000 * self._era,
        }
        limits = thread_limits(plan.threads)
        if self._cluster is None:
            return ProcessWorker(name, actor, job, environment=limits)
        gpus = 1 / plan.sharing if device != "cpu" else 0.0
        return self._cluster.start(
            name, actor, job, threads=plan.threads, gpus=gpus, environment=limits
        )
