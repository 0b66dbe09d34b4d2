"""How many actors there are, where they play, how a cluster is followed; no process is begun."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch

from rookery.gpu import devices
from rookery.training import Config, apply, recipe_for
from rookery.training.actors import pool as fleet
from rookery.training.actors.pool import ActorPool, actor_layout
from rookery.workers import Message, WorkerEvent
from rookery.workers.cluster import Capacity


@dataclass
class Paper:
    """A worker that only exists on paper."""

    name: str
    job: Mapping[str, Any]
    options: Mapping[str, Any]

    def __post_init__(self) -> None:
        self.said: list[Message] = []
        self.heard: list[Message] = []

    def received(self) -> list[Message]:
        said, self.said = self.said, []
        return said

    def send(self, message: Message) -> None:
        self.heard.append(message)

    def is_waiting(self) -> bool:
        return False

    def death(self) -> str:
        return ""

    def kill(self) -> None:
        self.said = []


class PaperCluster:
    def __init__(self, cpus: int, gpus: int) -> None:
        self.room = Capacity(1, cpus, gpus)
        self.workers: list[Paper] = []

    def capacity(self) -> Capacity:
        return self.room

    def start(self, name: str, role: Any, job: Mapping[str, Any], **options: Any) -> Paper:
        self.workers.append(Paper(name, job, options))
        return self.workers[-1]


def new_config(*settings: str) -> Config:
    return apply(recipe_for("connect4"), ["selfplay.games=256", *settings])


@pytest.fixture
def four_cores_two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet.os, "cpu_count", lambda: 4)
    monkeypatch.setattr(devices, "_missing_for_gpu", lambda: "")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.mark.parametrize(
    ("settings", "size", "most", "sharing", "threads"),
    [
        (["run.devices=cpu", "run.actors=4"], 4, 4, 4, 1),
        (["run.devices=cpu", "run.actors=3"], 3, 3, 3, 1),
        (["run.devices=cpu", "run.actors=auto"], 2, 4, 2, 1),
        (["run.devices=cuda:0,cuda:1"], 2, 2, 1, 2),
        (["run.devices=cuda:0,cuda:1", "run.actors=auto"], 2, 2, 1, 2),
        (["run.devices=cuda:0,cuda:1", "run.actors=4"], 4, 4, 2, 1),
        (["run.devices=cuda:1", "run.actors=2"], 2, 2, 2, 2),
    ],
)
def test_how_many_actors(
    four_cores_two_gpus: None, settings: list[str], size: int, most: int, sharing: int, threads: int
) -> None:
    found = actor_layout(new_config(*settings).run, None)
    assert (found.size, found.most, found.sharing, found.threads) == (size, most, sharing, threads)


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
    cluster = PaperCluster(cpus, gpus)
    ships = ActorPool(config, inference="float16", era=0, tell=print, cluster=cluster)  # type: ignore[arg-type]
    assert len(cluster.workers) == size == ships.crew.size()
    assert {worker.job["device"] for worker in cluster.workers} == {device}
    assert {worker.options["gpus"] for worker in cluster.workers} == {1 / sharing if gpus else 0}
    assert ships.games_each == 256 // sharing
    alike = {"cpu": "float16", "cuda:0": "auto"}[device]  # this process is on the CPU
    assert {worker.job["inference"] for worker in cluster.workers} == {alike}


def test_a_cluster_that_grows_is_followed() -> None:
    events: list[WorkerEvent] = []
    cluster = PaperCluster(cpus=3, gpus=0)
    config = new_config("run.cluster=local", "run.actors=auto", "run.devices=cpu")
    ships = ActorPool(config, inference="float32", era=0, tell=events.append, cluster=cluster)  # type: ignore[arg-type]
    ships.follow_cluster()
    assert ships.crew.size() == 2 and not events
    cluster.room = replace(cluster.room, cpus=5)
    ships.follow_cluster()
    assert ships.crew.size() == 4
    assert [(event.worker, event.done) for event in events] == [
        ("actor 2", "added"),
        ("actor 3", "added"),
    ]
    cluster.room = replace(cluster.room, cpus=1)  # its workers die of it, and then wait for room
    ships.follow_cluster()
    assert ships.crew.size() == 4


def test_the_load_is_followed(four_cores_two_gpus: None, monkeypatch: pytest.MonkeyPatch) -> None:
    workers: list[Paper] = []
    events: list[WorkerEvent] = []

    def start(ships: ActorPool, name: str, number: int, incarnation: int) -> Paper:
        workers.append(Paper(name, {}, {}))
        return workers[-1]

    monkeypatch.setattr(ActorPool, "_start", start)
    config = new_config("run.actors=auto", "run.devices=cpu")
    ships = ActorPool(config, inference="float32", era=0, tell=events.append, cluster=None)
    for worker in workers:
        worker.said = [Message("ready", {"rookery": fleet.__version__, "games": 256})]
    assert not list(ships.hear())
    ships.follow_load(learner_waited=0.05, games_waited=0.05)
    assert ships.crew.size() == 2 and not events
    ships.follow_load(learner_waited=0.5, games_waited=0.5)
    ships.order(1, {"moves": 1})
    assert ships.crew.size() == 3
    assert [(event.worker, event.done) for event in events] == [("actor 2", "added")]
    ships.follow_load(learner_waited=0.0, games_waited=0.5)
    workers[1].said = [Message("games", {"order": 2, "report": {"positions": 9}})]
    assert len(list(ships.hear())) == 1
    ships.order(1, {"moves": 1})
    assert ships.crew.size() == 2
    assert [(event.worker, event.done) for event in events[1:]] == [("actor 1", "retired")]


def test_games_of_an_order_are_taken_once() -> None:
    cluster = PaperCluster(cpus=2, gpus=0)
    config = new_config("run.cluster=local", "run.devices=cpu")
    ships = ActorPool(config, inference="float32", era=0, tell=print, cluster=cluster)  # type: ignore[arg-type]
    (worker,) = cluster.workers
    worker.said = [Message("ready", {"rookery": fleet.__version__, "games": 256})]
    assert not list(ships.hear())
    ships.order(2, {"moves": 1})
    orders = [message for message in worker.heard if message.kind == "play"]
    assert [order.header["order"] for order in orders] == [1, 2]
    games = [Message("games", {"order": n, "report": {"positions": 9}}) for n in (1, 2, 2)]
    worker.said = list(games)
    assert list(ships.hear()) == games[:2]
    assert ships.figures(seconds=3.0)[0]["positions_per_second"] == 6.0
