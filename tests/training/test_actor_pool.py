"""How many actors a pool has, where they play, and how it follows load and cluster."""

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn

from fake_time import FakeTime
from rookery import __version__
from rookery.games import load_game
from rookery.gpu import devices
from rookery.nets import BackendChoice
from rookery.replay import new_rows, to_columns
from rookery.selfplay import SelfPlayReport
from rookery.training import Config, PlayerSpec, RunConfig, Stopped, apply, recipe_for
from rookery.training.actors import pool as actor_pool
from rookery.training.actors.actor import ActorReady, GamesPlayed, NewWeights, Play
from rookery.training.actors.layout import actor_layout
from rookery.training.actors.pool import ActorPool
from rookery.training.evaluation.tasks import PartDone, StrengthTask
from rookery.workers import (
    Capacity,
    Failed,
    Heartbeat,
    Message,
    RestartPolicy,
    WorkerEvent,
    WorkerPool,
    WorkersLost,
)

GAME = load_game("connect4")
SUPERVISION = [
    "run.heartbeat_seconds=0.25",
    "run.silence_seconds=7",
    "run.restarts=2",
    "run.restart_minutes=3",
]


@dataclass
class FakeWorker:
    """A worker that runs nowhere; a test fills its outbox."""

    name: str
    job: Mapping[str, Any]
    options: Mapping[str, Any]
    outbox: list[Message] = field(default_factory=list)
    inbox: list[Message] = field(default_factory=list)

    def received(self) -> list[Message]:
        messages, self.outbox = self.outbox, []
        return messages

    def send(self, message: Message) -> None:
        self.inbox.append(message)

    def is_queued(self) -> bool:
        return False

    def death(self) -> str:
        return ""

    def kill(self) -> None:
        self.outbox = []

    def say_ready(self) -> None:
        self.outbox.append(ActorReady(__version__, self.job["games"]))

    def carry_out_orders(self, *, positions: int = 9) -> None:
        """Reply to all orders, each with `positions` positions and no finished game."""
        orders = [message for message in self.inbox if isinstance(message, Play)]
        self.inbox = [message for message in self.inbox if not isinstance(message, Play)]
        self.outbox += [games_played(order.order, positions) for order in orders]


def games_played(order: int, positions: int) -> GamesPlayed:
    report = SelfPlayReport(0, positions, 0, 0, 1.0, 0.0, 0.0, 0.0, 0.0)
    return GamesPlayed(order, 0, report, to_columns(new_rows(GAME, 0)))


class FakeCluster:
    def __init__(self, cpus: int, gpus: int) -> None:
        self.found = Capacity(1, cpus, gpus)
        self.workers: list[FakeWorker] = []

    def capacity(self) -> Capacity:
        return self.found

    def start(self, name: str, function: Any, job: Mapping[str, Any], **options: Any) -> FakeWorker:
        self.workers.append(FakeWorker(name, job, options))
        return self.workers[-1]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    fake = FakeTime()
    monkeypatch.setattr(actor_pool, "time", fake)
    return fake


def new_actors(
    config: Config,
    cluster: Any,
    *,
    backend: str = "float32",
    on_event: Callable[[WorkerEvent], None] = print,
    is_over: Callable[[], bool] = lambda: False,
) -> ActorPool:
    """Return a pool with its workers started, but not ready; `cluster` may be a FakeCluster."""
    actors = ActorPool(
        GAME,
        config,
        choice=BackendChoice(backend),
        era=0,
        on_event=on_event,
        cluster=cluster,
        is_over=is_over,
    )
    actors.publish(nn.Identity(), 0, lambda: b"")
    return actors


def new_config(*settings: str) -> Config:
    return apply(recipe_for("connect4"), ["selfplay.games=256", *settings])


@pytest.fixture
def four_cores_two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(4))
    monkeypatch.setattr(devices, "_missing_for_gpu", lambda: "")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.mark.parametrize(
    ("settings", "size", "max_size", "sharing", "threads"),
    [
        (["run.devices=cpu", "run.actors=4"], 4, 4, 4, 1),
        (["run.devices=cpu", "run.actors=3"], 3, 3, 3, 1),
        (["run.devices=cpu", "run.actors=auto"], 2, 4, 2, 1),
        (["run.devices=cuda:0,cuda:1"], 2, 2, 1, 2),
        (["run.devices=all"], 2, 2, 1, 2),
        (["run.devices=cuda:0,cuda:1", "run.actors=auto"], 2, 4, 1, 2),
        (["run.devices=cuda:0", "run.actors=auto"], 1, 2, 1, 4),
        (["run.devices=cuda:0,cuda:1", "run.actors=4"], 4, 4, 2, 1),
        (["run.devices=cuda:1", "run.actors=2"], 2, 2, 2, 2),
    ],
)
def test_how_many_actors(
    four_cores_two_gpus: None,
    settings: list[str],
    size: int,
    max_size: int,
    sharing: int,
    threads: int,
) -> None:
    found = actor_layout(new_config(*settings).run, None)
    assert (found.size, found.max_size) == (size, max_size)
    assert (found.sharing, found.threads) == (sharing, threads)
    assert new_config(*settings).run.has_actors()


@pytest.mark.parametrize(
    ("actors", "cpus", "gpus", "size", "sharing", "device"),
    [
        ("0", 8, 0, 7, 1, "cpu"),
        ("auto", 64, 8, 8, 1, "cuda:0"),
        ("16", 64, 8, 16, 2, "cuda:0"),
        ("3", 8, 0, 3, 1, "cpu"),
        ("auto", 1, 0, 1, 1, "cpu"),
    ],
)
def test_how_many_actors_in_a_cluster(
    actors: str, cpus: int, gpus: int, size: int, sharing: int, device: str
) -> None:
    config = new_config("run.cluster=local", f"run.actors={actors}", "run.devices=cpu")
    cluster = FakeCluster(cpus, gpus)
    found = new_actors(config, cluster, backend="float16")
    assert len(cluster.workers) == size == found.pool.size()
    assert {worker.job["device"] for worker in cluster.workers} == {device}
    assert {worker.options["gpus"] for worker in cluster.workers} == {1 / sharing if gpus else 0}
    assert {worker.job["games"] for worker in cluster.workers} == {256 // sharing}
    backend = {"cpu": "float16", "cuda:0": "auto"}[device]  # this process is on the CPU
    assert {worker.job["backend"] for worker in cluster.workers} == {backend}


def test_heartbeats_silence_and_restarts_are_settings() -> None:
    cluster, events = FakeCluster(cpus=2, gpus=0), list[WorkerEvent]()
    config = new_config("run.cluster=local", "run.devices=cpu", *SUPERVISION)
    actors = new_actors(config, cluster, on_event=events.append)
    assert [worker.options["heartbeat_seconds"] for worker in cluster.workers] == [0.25]
    assert actors.pool._policy == RestartPolicy(
        silence_seconds=7.0, failures=2, period_seconds=180.0
    )
    assert new_config().run.restart_policy() == RestartPolicy(), "the defaults are the same"


def test_a_cluster_that_grows_is_followed() -> None:
    events: list[WorkerEvent] = []
    cluster = FakeCluster(cpus=3, gpus=0)
    config = new_config("run.cluster=local", "run.actors=auto", "run.devices=cpu")
    actors = new_actors(config, cluster, on_event=events.append)
    actors.figures()
    assert actors.pool.size() == 2 and not events
    cluster.found = replace(cluster.found, cpus=5)
    actors.figures()
    assert actors.pool.size() == 4
    assert [(event.worker, event.done) for event in events] == [
        ("actor 2", "added"),
        ("actor 3", "added"),
    ]
    cluster.found = replace(cluster.found, cpus=1)  # workers that die of it wait for resources
    actors.figures()
    assert actors.pool.size() == 4


def test_a_number_that_was_asked_for_does_not_grow_with_the_cluster() -> None:
    cluster = FakeCluster(cpus=3, gpus=0)
    actors = new_actors(new_config("run.cluster=local", "run.actors=2", "run.devices=cpu"), cluster)
    cluster.found = replace(cluster.found, cpus=5)
    actors.figures()
    assert actors.pool.size() == 2


def test_the_load_is_followed(
    four_cores_two_gpus: None, clock: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers: list[FakeWorker] = []
    events: list[WorkerEvent] = []

    def start(name: str, function: Any, job: Mapping[str, Any], **options: Any) -> FakeWorker:
        workers.append(FakeWorker(name, job, options))
        return workers[-1]

    def play(seconds: float = 0.0) -> None:
        """Play; the actors reply once, after `seconds`."""
        due = clock.now + seconds

        def check() -> None:
            nonlocal due
            if clock.now >= due:
                due = math.inf
                for worker in workers:
                    worker.carry_out_orders()

        actors.play(0, progress=0.5, check=check)

    monkeypatch.setattr(actor_pool, "ProcessWorker", start)
    config = new_config("run.actors=auto", "run.devices=cpu", "run.max_lag=1")
    actors = new_actors(config, None, on_event=events.append)
    for worker in workers:
        worker.say_ready()
    play()
    clock.now += 1.0
    actors.figures()
    assert actors.pool.size() == 2 and not events, "neither side waited"

    play(seconds=1.0)
    actors.figures()
    assert actors.pool.size() == 3, "the learner waited"
    assert [(event.worker, event.done) for event in events] == [("actor 2", "added")]

    for worker in workers:  # more positions than the learner may lag behind
        worker.carry_out_orders(positions=actors.positions)
    actors.attend()
    clock.now += 1.0
    actors.attend()
    actors.figures()
    play()
    play()
    assert actors.pool.size() == 2, "games waited"
    assert [(event.worker, event.done) for event in events[1:]] == [("actor 1", "retired")]


def test_games_of_an_order_are_received_once(clock: FakeTime) -> None:
    cluster = FakeCluster(cpus=2, gpus=0)
    actors = new_actors(new_config("run.cluster=local", "run.devices=cpu"), cluster)
    (worker,) = cluster.workers
    worker.say_ready()
    actors.attend()
    assert isinstance(worker.inbox[0], NewWeights)
    orders = [message.order for message in worker.inbox[1:] if isinstance(message, Play)]
    assert orders == [1, 2], "one to play, and one that waits"
    worker.outbox = [games_played(order, 9) for order in (1, 2, 2)]
    step = actors.play(0, progress=0.0, check=lambda: None)
    assert [played.report.positions for played in step.played] == [9, 9]
    clock.now += 3.0
    (figures,) = actors.figures()["actors"]["workers"]
    assert figures["positions_per_second"] == 6.0


def test_games_that_arrive_while_the_learner_learns_begin_the_next_iteration() -> None:
    cluster = FakeCluster(cpus=2, gpus=0)
    actors = new_actors(new_config("run.cluster=local", "run.devices=cpu"), cluster)
    (worker,) = cluster.workers
    worker.say_ready()
    actors.attend()
    worker.outbox = [games_played(1, actors.positions)]
    assert actors.play(0, progress=0.0, check=lambda: None).is_complete
    worker.outbox = [games_played(2, actors.positions)]
    actors.attend()
    actors.figures()
    assert not actors.drain(), "a checkpoint between iterations takes nothing"
    step = actors.play(1, progress=0.0, check=lambda: None)
    assert len(step.played) == 1 and step.is_complete


def test_an_interrupted_iteration_gives_what_has_arrived() -> None:
    cluster = FakeCluster(cpus=2, gpus=0)
    config = new_config("run.cluster=local", "run.devices=cpu", "run.mode=phased")
    actors = new_actors(config, cluster)
    (worker,) = cluster.workers
    worker.say_ready()

    def stop() -> None:
        worker.outbox = [games_played(1, 9)]
        actors.attend()
        raise Stopped

    with pytest.raises(Stopped):
        actors.play(0, progress=0.0, check=stop)
    assert [played.report.positions for played in actors.drain()] == [9]


def test_the_only_actor_that_plays_is_not_retired(
    four_cores_two_gpus: None, clock: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers: list[FakeWorker] = []

    def start(name: str, function: Any, job: Mapping[str, Any], **options: Any) -> FakeWorker:
        workers.append(FakeWorker(name, job, options))
        return workers[-1]

    monkeypatch.setattr(actor_pool, "ProcessWorker", start)
    config = new_config("run.actors=auto", "run.devices=cpu", "run.max_lag=1")
    actors = new_actors(config, None)
    worker, starting = workers
    worker.say_ready()
    actors.attend()
    worker.carry_out_orders(positions=actors.positions)
    actors.attend()
    clock.now += 1.0
    actors.attend()
    actors.figures()
    actors.play(0, progress=0.5, check=lambda: None)

    def check() -> None:
        assert clock.now < 110.0, "there are no more orders"
        worker.carry_out_orders()

    actors.play(0, progress=0.5, check=check)
    assert actors.pool.ready() == [0] and not starting.inbox


@pytest.mark.parametrize("iteration", [0, 3])
def test_a_run_whose_actors_fail_ends_with_its_time(clock: FakeTime, iteration: int) -> None:
    cluster = FakeCluster(cpus=3, gpus=0)
    begun, seconds = clock.now, 2.0
    actors = new_actors(
        new_config("run.cluster=fake", "run.actors=1"),
        cluster,
        is_over=lambda: clock.now - begun > seconds,
    )
    cluster.workers[0].outbox.append(Failed("out of luck"))
    if iteration:
        step = actors.play(iteration, progress=0.5, check=lambda: None)
        assert step.is_complete and not step.played
    else:
        with pytest.raises(WorkersLost, match=r"within the run's time; .* out of luck"):
            actors.play(iteration, progress=0.5, check=lambda: None)
    assert clock.now - begun < seconds + 1


def ready_pool(cluster: FakeCluster, *settings: str) -> tuple[ActorPool, list[WorkerEvent]]:
    """Return a pool on a cluster whose actors are ready and have orders."""
    events: list[WorkerEvent] = []
    config = new_config("run.cluster=local", "run.devices=cpu", *settings)
    actors = new_actors(config, cluster, on_event=events.append)
    for worker in cluster.workers:
        worker.say_ready()
    actors.attend()
    return actors, events


def run_with(actors: ActorPool, *settings: str) -> RunConfig:
    """Return the run settings of a pool with some changed."""
    return apply(actors._config, settings).run


def test_actors_join_a_run_that_is_scaled_up() -> None:
    cluster = FakeCluster(cpus=8, gpus=0)
    actors, events = ready_pool(cluster, "run.actors=2")
    actors.scale(run_with(actors, "run.actors=4"))
    assert [worker.name for worker in cluster.workers] == [f"actor {n}" for n in range(4)]
    assert actors.count() == (2, 4) and actors.describe() == "4 actors on cpu"
    assert actors.positions == 4 * 256 * actors._config.run.moves
    assert [str(event) for event in events] == [
        f"actor {number} joins: the run was scaled; added" for number in (2, 3)
    ]
    for worker in cluster.workers[2:]:
        worker.say_ready()
    actors.attend()
    assert actors.count() == (4, 4)
    assert sum(isinstance(message, Play) for message in cluster.workers[3].inbox) == 2


def test_an_actor_leaves_when_its_orders_are_carried_out() -> None:
    cluster = FakeCluster(cpus=8, gpus=0)
    actors, events = ready_pool(cluster, "run.actors=3")
    actors.scale(run_with(actors, "run.actors=1"))
    assert actors.count() == (1, 1) and not events
    actors.attend()
    assert actors.pool.ready() == [0, 1, 2], "their games have not arrived"
    for worker in cluster.workers:
        worker.carry_out_orders()
    step = actors.play(0, progress=0.5, check=lambda: None)
    assert len(step.played) == 6, "all games are kept"
    assert actors.pool.ready() == [0] and actors.pool.size() == 1
    assert {str(event) for event in events} == {
        f"actor {number} leaves: the run was scaled; retired" for number in (1, 2)
    }


def test_an_actor_leaves_after_its_part_of_a_measurement() -> None:
    cluster = FakeCluster(cpus=8, gpus=0)
    actors, _ = ready_pool(cluster, "run.actors=2", "run.max_lag=0")
    task = StrengthTask("tictactoe", PlayerSpec("plain", name="random"), seed=1)
    queue = actors.evaluate((task,))
    actors.attend_tasks()
    for worker in cluster.workers:
        worker.carry_out_orders()
    actors.scale(run_with(actors, "run.actors=1"))
    actors.attend_tasks()
    assert actors.pool.ready() == [0, 1]
    cluster.workers[1].outbox.append(PartDone(0, 1, [1]))
    actors.attend_tasks()
    assert actors.pool.ready() == [0] and queue.share_done == 0.5 and not queue.failure


def test_a_measurement_that_was_short_of_memory_is_an_event() -> None:
    cluster = FakeCluster(cpus=8, gpus=0)
    actors, events = ready_pool(cluster, "run.actors=1")
    task = StrengthTask("tictactoe", PlayerSpec("plain", name="random"), seed=1)
    actors.evaluate((task,))
    actors.attend_tasks()
    note = "512 games do not fit into the GPU's memory; continuing with 256 at a time"
    cluster.workers[0].outbox.append(PartDone(0, 0, [1], notes=[note]))
    actors.attend_tasks()
    assert [str(event) for event in events] == [f"actor 0 measures strength: {note}"]
    assert events[0].fallback == "memory"


def test_actors_that_are_not_ready_leave_first_and_one_that_leaves_may_stay() -> None:
    cluster = FakeCluster(cpus=8, gpus=0)
    actors, _ = ready_pool(cluster, "run.actors=2")
    actors.scale(run_with(actors, "run.actors=4"))
    cluster.workers[3].say_ready()
    actors.attend()
    actors.scale(run_with(actors, "run.actors=3"))
    actors.attend()
    assert actors.pool.numbers() == [0, 1, 3]
    actors.scale(run_with(actors, "run.actors=1"))
    actors.scale(run_with(actors, "run.actors=3"))
    actors.attend()
    assert actors.pool.ready() == [0, 1, 3] and actors.count() == (3, 3)


def test_actors_that_share_gpus_of_a_cluster_start_again_with_another_share() -> None:
    cluster = FakeCluster(cpus=8, gpus=1)
    actors, events = ready_pool(cluster, "run.actors=1")
    assert cluster.workers[0].options["gpus"] == 1.0
    actors.scale(run_with(actors, "run.actors=2"))
    assert len(cluster.workers) == 2, "the first one has orders"
    cluster.workers[0].carry_out_orders()
    actors.attend()
    assert [worker.name for worker in cluster.workers] == ["actor 0", "actor 1", "actor 0"]
    assert {worker.options["gpus"] for worker in cluster.workers[1:]} == {0.5}
    assert str(events[-1]) == "actor 0 moves to cuda:0; restarted"


def test_actors_move_to_other_devices(
    four_cores_two_gpus: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers: list[FakeWorker] = []

    def start(name: str, function: Any, job: Mapping[str, Any], **options: Any) -> FakeWorker:
        workers.append(FakeWorker(name, job, options))
        return workers[-1]

    monkeypatch.setattr(actor_pool, "ProcessWorker", start)
    config = new_config("run.actors=2", "run.devices=cuda:0")
    actors = new_actors(config, None)
    for worker in workers:
        worker.say_ready()
    actors.attend()
    actors.scale(run_with(actors, "run.devices=cuda:0,cuda:1"))
    for worker in workers:
        worker.carry_out_orders()
    actors.attend()
    assert [(worker.name, worker.job["device"]) for worker in workers] == [
        ("actor 0", "cuda:0"),
        ("actor 1", "cuda:0"),
        ("actor 1", "cuda:1"),
    ]
    assert workers[2].job["games"] == 256 and actors.describe() == "2 actors on cuda:0,cuda:1"


def test_a_dropped_actor_returns_and_scaling_replaces_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(actor_pool, "WorkerPool", partial(WorkerPool, clock=lambda: now))
    cluster = FakeCluster(cpus=8, gpus=0)
    actors, events = ready_pool(cluster, "run.actors=2", "run.cooldown_seconds=600")

    def wait(seconds: float) -> None:
        nonlocal now
        now += seconds
        for worker in cluster.workers:
            worker.outbox.append(Heartbeat(1))
        actors.attend()

    def drop(number: int) -> None:
        while number in actors.pool.numbers():
            workers = [each for each in cluster.workers if each.name == f"actor {number}"]
            workers[-1].outbox.append(Failed("out of luck"))
            wait(60.0)

    drop(1)
    assert events[-1].done.endswith("returns in 600 s") and actors.count() == (1, 1)
    wait(600.0)
    assert str(events[-1]) == "actor 1 was dropped 600 s ago; started again"
    assert actors.count() == (1, 2)
    drop(1)
    actors.scale(run_with(actors, "run.actors=2"))
    wait(1000.0)
    assert actors.pool.numbers() == [0, 2], "another one has taken its place"


class Follower:
    """A pool of fake actors whose number follows the load."""

    def __init__(self, clock: FakeTime, config: Config, cluster: FakeCluster) -> None:
        self.clock, self.cluster = clock, cluster
        self.events: list[WorkerEvent] = []
        is_local = not config.run.cluster
        self.actors = new_actors(config, None if is_local else cluster, on_event=self.events.append)

    def make_ready(self, busy: float | None = None) -> None:
        """Have all actors ready, on GPUs with some load."""
        for worker in self.cluster.workers:
            worker.outbox += [ActorReady(__version__, 256), Heartbeat(1, 500, busy)]
        self.actors.attend()

    def let_learner_wait(self) -> None:
        """Play an iteration in which the actors reply late."""
        due = self.clock.now + 1.0

        def check() -> None:
            if self.clock.now >= due:
                self.reply(positions=9)

        self.actors.play(0, progress=0.5, check=check)
        self.actors.figures()

    def let_games_wait(self) -> None:
        """Play an iteration in which more games arrive than the learner can use."""
        self.reply(positions=2 * self.actors.positions)
        self.actors.attend()
        self.clock.now += 1.0
        self.actors.attend()
        self.actors.figures()
        self.actors.play(0, progress=0.5, check=lambda: self.reply(positions=9))
        self.actors.attend()

    def reply(self, positions: int) -> None:
        for worker in self.cluster.workers:
            worker.carry_out_orders(positions=positions)


@pytest.fixture
def gpu_follower(
    four_cores_two_gpus: None, clock: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> Follower:
    """Actors on two GPUs of this machine."""
    cluster = FakeCluster(cpus=0, gpus=0)
    monkeypatch.setattr(actor_pool, "ProcessWorker", cluster.start)
    return Follower(clock, new_config("run.actors=auto", "run.devices=cuda:0,cuda:1"), cluster)


@pytest.mark.parametrize("busy", [0.95, None])
def test_no_actor_is_added_to_a_busy_gpu(gpu_follower: Follower, busy: float | None) -> None:
    gpu_follower.make_ready(busy)
    gpu_follower.let_learner_wait()
    assert gpu_follower.actors.count() == (2, 2) and not gpu_follower.events


def test_a_second_actor_is_added_to_an_idle_gpu(gpu_follower: Follower) -> None:
    workers = gpu_follower.cluster.workers
    for worker, busy in zip(workers, (0.95, 0.4), strict=True):
        worker.outbox += [ActorReady(__version__, 256), Heartbeat(1, 500, busy)]
    gpu_follower.actors.attend()
    gpu_follower.let_learner_wait()
    assert [worker.job["device"] for worker in workers] == ["cuda:0", "cuda:1", "cuda:1"]
    assert str(gpu_follower.events[0]).startswith("actor 2 is needed: the learner waited ")
    for _ in range(4):
        gpu_follower.make_ready(busy=0.2)
        gpu_follower.let_learner_wait()
    assert gpu_follower.actors.count() == (4, 4), "two per GPU, and no more"
    assert [worker.job["device"] for worker in workers[3:]] == ["cuda:0"]


def test_actors_leave_gpus_while_games_wait(gpu_follower: Follower) -> None:
    gpu_follower.make_ready(busy=0.9)
    gpu_follower.let_games_wait()
    assert gpu_follower.actors.pool.numbers() == [0]
    assert "games wait for the learner; retired" in str(gpu_follower.events[-1])
    gpu_follower.let_learner_wait()
    assert gpu_follower.actors.pool.numbers() == [0, 1], "its GPU is free"


def test_the_load_is_followed_on_a_cluster(clock: FakeTime) -> None:
    cluster = FakeCluster(cpus=17, gpus=0)
    follower = Follower(clock, new_config("run.cluster=fake", "run.devices=cpu"), cluster)
    follower.make_ready()
    assert follower.actors.count() == (16, 16)
    follower.let_games_wait()
    assert follower.actors.count() == (14, 14), "one in eight"
    cluster.found = replace(cluster.found, cpus=25)
    follower.actors.figures()
    assert follower.actors.count() == (14, 14), "fewer than there could be were enough"
    follower.let_learner_wait()
    assert follower.actors.count()[1] == 15
    for _ in range(30):
        follower.make_ready()
        follower.let_learner_wait()
    assert follower.actors.count()[1] == 24, "the cluster is full"


def test_a_number_that_was_asked_for_does_not_follow_the_load(clock: FakeTime) -> None:
    cluster = FakeCluster(cpus=9, gpus=0)
    config = new_config("run.cluster=fake", "run.devices=cpu", "run.actors=4")
    follower = Follower(clock, config, cluster)
    follower.make_ready()
    follower.let_learner_wait()
    follower.let_games_wait()
    assert follower.actors.count() == (4, 4) and not follower.events
