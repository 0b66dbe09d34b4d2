"""What an actor does: play games with the newest weights, and test the network's strength.

Its messages are ActorReady and GamesPlayed; the coordinator's are NewWeights and Play.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from numpy.typing import NDArray

from rookery import __version__
from rookery.base import generator
from rookery.games import load_game
from rookery.gpu import data_device, find_device, process_usage
from rookery.nets import unpack
from rookery.replay import to_columns
from rookery.selfplay import Played, SelfPlayReport
from rookery.training.config import Config, from_json
from rookery.training.evaluation.tasks import RunPart, Tasks, run_part
from rookery.training.parts import new_self_player
from rookery.training.self_players import Check
from rookery.training.store.origin import new_net
from rookery.workers import Channel, Message, Ready

WAIT_SECONDS = 1.0


@dataclass(frozen=True)
class ActorReady(Ready):
    """An actor can play."""

    games: int
    """Games that it plays at once: fewer than asked for if its GPU has no memory for all."""


@dataclass(frozen=True)
class NewWeights(Message):
    """Play with these weights from now on."""

    version: int
    weights: bytes


@dataclass(frozen=True)
class Play(Message):
    """Make `moves` moves in every game."""

    order: int
    moves: int
    progress: float
    iteration: int


@dataclass(frozen=True)
class GamesPlayed(Message):
    """The games that ended while an order was carried out."""

    order: int
    version: int
    """Version of the weights they were played with."""
    report: SelfPlayReport
    columns: Mapping[str, NDArray[Any]]
    """Their rows (see `replay.to_columns`)."""


def actor_seed(config: Config, number: int, incarnation: int) -> int:
    """Return a seed for one actor, and another one for its replacement."""
    return int(generator(config.run.seed, "actor", number, incarnation).integers(2**62))


def actor(channel: Channel, job: Mapping[str, Any]) -> None:
    """Play games until the channel closes: some moves for every order.

    An order is started before the games of the one before are read, so that a GPU never waits.
    """
    config = from_json(job["config"])
    config = replace(config, selfplay=replace(config.selfplay, games=job["games"]))
    game, device = load_game(config.game, job["digest"]), find_device(job["device"])
    channel.measure_device = partial(process_usage, device)
    net = new_net(config, game).to(data_device(device))
    player = new_self_player(
        game,
        config,
        net,
        device=device,
        backend=job["backend"],
        seed=actor_seed(config, job["number"], job["incarnation"]),
    )
    version, tasks = -1, Tasks(())
    started: deque[tuple[Play, int, Callable[[Check], Played]]] = deque()

    def send_games() -> None:
        order, used, finish = started.popleft()
        played = finish(lambda: None)
        channel.send(GamesPlayed(order.order, used, played.report, to_columns(played.rows)))

    channel.send(ActorReady(__version__, player.games))
    while True:
        message = channel.receive(0.0 if started else WAIT_SECONDS)
        match message:
            case Play(_, moves, progress, iteration):
                finish = player.start(moves, progress=progress, iteration=iteration)
                started.append((message, version, finish))
                if len(started) > player.in_flight:
                    send_games()
            case None if started:
                send_games()
            case NewWeights():
                net.load_state_dict(dict(unpack(message.weights).state))
                player.load(net)
                version = message.version
            case Tasks():
                tasks = message
            case RunPart():
                channel.send(run_part(tasks, message, device=job["device"]))
