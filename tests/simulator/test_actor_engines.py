"""An actor's seat on a GPU: stretches begun ahead, weights by version, games that do not fit."""

import pytest
import torch
from rookery.training.actors.engines import GpuActorEngine

from rookery.games import load_game
from rookery.nets import build_net
from rookery.selfplay import DeviceSelfPlay, SelfPlayConfig
from rookery.training import Config, apply, recipe_for
from rookery.training.actors import engines as seats

SMALL = ["selfplay.games=8", "selfplay.simulations=4", "net.width=4", "net.depth=1", "run.moves=6"]


def new_seat(*settings: str) -> tuple[GpuActorEngine, torch.nn.Module]:
    config: Config = apply(recipe_for("tictactoe"), [*SMALL, *settings])
    rules = load_game("tictactoe")
    net = build_net(config.net, rules.planes_shape, rules.num_actions)
    cpu = torch.device("cpu")
    return GpuActorEngine(config, net, rules=rules, device=cpu, inference="float32", seed=3), net


def test_a_stretch_begun_ahead_brings_its_own_games_and_version() -> None:
    seat, net = new_seat()
    seat.load(net, 1)
    first = seat.begin(6, progress=0.0, iteration=0)
    seat.load(net, 2)
    second = seat.begin(6, progress=0.0, iteration=1)
    found = [first(), second()]
    assert [played.version for played in found] == [1, 2]
    assert [set(played.samples.born) for played in found] == [{0}, {1}]
    assert sum(played.report.games for played in found) > 8
    assert all(played.report.positions > 3 * 8 for played in found)
    alone, _ = new_seat()
    alone.load(net, 1)
    again = alone.begin(6, progress=0.0, iteration=0)()
    assert again.samples.states.tobytes() == found[0].samples.states.tobytes()


def test_a_seat_takes_as_many_games_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def cramped(*arguments: object, config: SelfPlayConfig, **options: object) -> DeviceSelfPlay:
        if config.games > 20:
            raise torch.cuda.OutOfMemoryError("no room")
        return DeviceSelfPlay(*arguments, config=config, **options)

    monkeypatch.setattr(seats, "DeviceSelfPlay", cramped)
    seat, _ = new_seat("selfplay.games=64")
    assert seat.games == 16
