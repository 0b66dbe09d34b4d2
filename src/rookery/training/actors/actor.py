"""What a worker of a run does, wherever it runs."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from torch import nn

from rookery import __version__
from rookery.base import generator
from rookery.games import Game, load_game
from rookery.gpu import find_device
from rookery.nets import unpack
from rookery.replay import to_columns
from rookery.training.actors.engines import ActorEngine, CpuActorEngine, GpuActorEngine, Played
from rookery.training.config import Config, from_json
from rookery.training.evaluation.tasks import EvaluationTask, answer, unpack_cases
from rookery.training.store.origin import new_net
from rookery.workers import Channel, Message

WAIT_SECONDS = 1.0
Pending = tuple[int, Callable[[], Played]]
"""The number of an order that was begun, and what waits for its games."""


def thread_limits(threads: int) -> dict[str, str]:
    """Variables that keep a worker's libraries to so many threads."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    return dict.fromkeys(names, str(threads))


def actor_seed(config: Config, number: int, incarnation: int) -> int:
    """A seed of its own for every actor, and for every one that takes its place."""
    return int(generator(config.run.seed, "actor", number, incarnation).integers(2**62))


def selfplay_config(job: Mapping[str, Any]) -> Config:
    """The run's settings, with this actor's share of the games."""
    config = from_json(job["config"])
    return replace(config, selfplay=replace(config.selfplay, games=job["games"]))


def actor(link: Channel, job: Mapping[str, Any]) -> None:
    """Play games with the newest weights, so many moves for every order.

    The next stretch is begun before the last one is fetched, so that a GPU never waits. An actor is
    also a judge of the run's strength, when it is asked to be.
    """
    config = selfplay_config(job)
    rules = load_game(config.game, job["digest"])
    net = new_net(config.net, rules)
    seat = new_actor_engine(config, net, rules=rules, job=job)
    pending: Pending | None = None
    cases: list[EvaluationTask] = []
    link.send(Message("ready", {"rookery": __version__, "games": seat.games}))
    while True:
        message = link.receive(0.0 if pending else WAIT_SECONDS)
        if message is None or message.kind == "play":
            begun = _begin(seat, message) if message else None
            if pending:
                link.send(_games(*pending))
            pending = begun
        elif message.kind == "weights":
            net.load_state_dict(dict(unpack(message.arrays["weights"].tobytes()).state))
            seat.load(net, message.header["version"])
        elif message.kind == "cases":
            cases = [case.on(job["device"]) for case in unpack_cases(message)]
        elif message.kind == "look":
            link.send(answer(cases[message.header["case"]], message))


def new_actor_engine(
    config: Config, net: nn.Module, *, rules: Game, job: Mapping[str, Any]
) -> ActorEngine:
    """An actor's seat on the device that its job names."""
    seed = actor_seed(config, job["number"], job["incarnation"])
    device, inference = find_device(job["device"]), job["inference"]
    if device.type == "cpu":
        return CpuActorEngine(config, net, rules=rules, inference=inference, seed=seed)
    return GpuActorEngine(config, net, rules=rules, device=device, inference=inference, seed=seed)


def _begin(seat: ActorEngine, order: Message) -> Pending:
    header = order.header
    finish = seat.begin(header["moves"], progress=header["progress"], iteration=header["iteration"])
    return header["order"], finish


def _games(order: int, finish: Callable[[], Played]) -> Message:
    played = finish()
    header = {"order": order, "version": played.version, "report": asdict(played.report)}
    return Message("games", header, to_columns(played.samples) if len(played.samples) else {})
