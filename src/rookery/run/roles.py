"""What a worker of a run does, wherever it runs."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from rookery import __version__
from rookery.base import generator
from rookery.games import game
from rookery.nets import Evaluator, build_net, unpack
from rookery.replay import Samples, to_columns
from rookery.run.config import Config, from_json
from rookery.runtime import Link, Message
from rookery.selfplay import SelfPlay

WAIT_SECONDS = 1.0


def thread_limits(threads: int) -> dict[str, str]:
    """Variables that keep a worker's libraries to so many threads."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    return dict.fromkeys(names, str(threads))


def actor_seed(config: Config, number: int, incarnation: int) -> int:
    """A seed of its own for every actor, and for every one that takes its place."""
    return int(generator(config.run.seed, "actor", number, incarnation).integers(2**62))


def actor(link: Link, job: Mapping[str, Any]) -> None:
    """Play games with the newest weights, so many moves for every word to go on."""
    selfplay, evaluator = _prepare(job)
    net = build_net(selfplay_config(job).net, selfplay.game.planes_shape, selfplay.game.num_actions)
    version = -1
    link.send(Message("ready", {"rookery": __version__}))
    while True:
        message = link.receive(WAIT_SECONDS)
        if message is None:
            continue
        if message.kind == "weights":
            version = message.header["version"]
            net.load_state_dict(dict(unpack(message.arrays["weights"].tobytes()).state))
            evaluator.load(net)
        elif message.kind == "play":
            link.send(_play(selfplay, message, version))


def selfplay_config(job: Mapping[str, Any]) -> Config:
    """The run's settings, with this actor's share of the games."""
    config = from_json(job["config"])
    return replace(config, selfplay=replace(config.selfplay, games=job["games"]))


def _prepare(job: Mapping[str, Any]) -> tuple[SelfPlay, Evaluator]:
    config = selfplay_config(job)
    rules = game(config.game)
    net = build_net(config.net, rules.planes_shape, rules.num_actions)
    evaluator = Evaluator(
        net, rules.planes_shape, method=job["inference"], batch_size=config.selfplay.games
    )
    selfplay = SelfPlay(
        rules,
        evaluator,
        config=config.selfplay,
        search=config.search,
        seed=actor_seed(config, job["number"], job["incarnation"]),
    )
    return selfplay, evaluator


def _play(selfplay: SelfPlay, order: Message, version: int) -> Message:
    records, report = selfplay.play(order.header["moves"], progress=order.header["progress"])
    header = {"order": order.header["order"], "version": version, "report": asdict(report)}
    if not records:
        return Message("games", header)
    samples = Samples.from_records(records, order.header["iteration"])
    return Message("games", header, to_columns(samples))
