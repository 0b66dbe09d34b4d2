"""What an actor does: play games with the newest weights, and test the network's strength."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from rookery import __version__
from rookery.base import generator
from rookery.games import load_game
from rookery.gpu import find_device
from rookery.nets import unpack
from rookery.replay import to_columns
from rookery.selfplay import Played
from rookery.training.actors.messages import ActorReady, GamesPlayed, NewWeights, Play
from rookery.training.config import Config, from_json
from rookery.training.evaluation.tasks import RunPart, Tasks, run_part
from rookery.training.parts import new_self_player
from rookery.training.store.origin import new_net
from rookery.workers import Channel

WAIT_SECONDS = 1.0


def actor_seed(config: Config, number: int, incarnation: int) -> int:
    """Return a seed for one actor, and another one for its replacement."""
    return int(generator(config.run.seed, "actor", number, incarnation).integers(2**62))


def actor(channel: Channel, job: Mapping[str, Any]) -> None:
    """Play games until the channel closes: some moves for every order.

    An order is started before the games of the one before are read, so that a GPU never waits.
    """
    config = _own_share(job)
    game, device = load_game(config.game, job["digest"]), find_device(job["device"])
    net = new_net(config, game).to(device)
    player = new_self_player(
        game,
        config,
        net,
        device=device,
        backend=job["backend"],
        seed=actor_seed(config, job["number"], job["incarnation"]),
    )
    version, tasks = -1, Tasks(())
    started: deque[Callable[[], GamesPlayed]] = deque()

    def start(order: Play) -> Callable[[], GamesPlayed]:
        finish = player.start(order.moves, progress=order.progress, iteration=order.iteration)
        used = version
        return lambda: _reply(order.order, used, finish(lambda: None))

    channel.send(ActorReady(__version__, player.games))
    while True:
        message = channel.receive(0.0 if started else WAIT_SECONDS)
        match message:
            case Play():
                started.append(start(message))
                if len(started) > player.in_flight:
                    channel.send(started.popleft()())
            case None if started:
                channel.send(started.popleft()())
            case NewWeights():
                net.load_state_dict(dict(unpack(message.weights).state))
                player.load(net)
                version = message.version
            case Tasks():
                tasks = message
            case RunPart():
                channel.send(run_part(tasks, message, device=job["device"]))


def _own_share(job: Mapping[str, Any]) -> Config:
    """Return the run's settings, with this actor's share of the games."""
    config = from_json(job["config"])
    return replace(config, selfplay=replace(config.selfplay, games=job["games"]))


def _reply(order: int, version: int, played: Played) -> GamesPlayed:
    return GamesPlayed(order, version, played.report, to_columns(played.rows))
