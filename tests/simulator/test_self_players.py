"""The self-player of a GPU: calls started ahead, and games that do not fit into memory."""

from typing import Any

import numpy as np
import pytest
import torch

from rookery.games import load_game
from rookery.nets import build_net
from rookery.selfplay import GpuSelfPlay, SelfPlayConfig
from rookery.training import apply, recipe_for, self_players
from rookery.training.parts import new_self_player
from rookery.training.self_players import SelfPlayer

SMALL = ["selfplay.games=8", "selfplay.simulations=4", "net.width=4", "net.depth=1", "run.moves=6"]
pytestmark = pytest.mark.usefixtures("gpu_parts")


def new_player(*settings: str) -> tuple[SelfPlayer, torch.nn.Module]:
    config, game = apply(recipe_for("tictactoe"), [*SMALL, *settings]), load_game("tictactoe")
    net = build_net(config.net, game.planes_shape, game.num_actions)
    cpu = torch.device("cpu")
    return new_self_player(game, config, net, device=cpu, backend="float32", seed=3), net


def test_a_call_started_ahead_returns_its_own_games() -> None:
    player, _ = new_player()
    assert player.in_flight == 1
    started = [player.start(6, progress=0.0, iteration=i) for i in range(2)]
    found = [finish(lambda: None) for finish in started]
    assert [set(played.rows.iterations) for played in found] == [{0}, {1}]
    assert sum(played.report.games for played in found) > 8
    assert all(played.report.positions > 3 * 8 for played in found)
    alone, _ = new_player()
    again = alone.start(6, progress=0.0, iteration=0)(lambda: None)
    assert again.rows.states.tobytes() == found[0].rows.states.tobytes()


def test_new_weights_change_the_games() -> None:
    player, net = new_player()
    changed, _ = new_player()
    for weights in net.parameters():
        torch.nn.init.normal_(weights, std=1.0)
    changed.load(net)
    rows, others = (
        each.start(12, progress=0.0, iteration=0)(lambda: None).rows for each in (player, changed)
    )
    assert not np.array_equal(rows.values, others.values)


def test_as_many_games_are_played_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_little_memory(*arguments: Any, config: SelfPlayConfig, **options: Any) -> GpuSelfPlay:
        if config.games > 20:
            raise torch.cuda.OutOfMemoryError("out of memory")
        return GpuSelfPlay(*arguments, config=config, **options)

    monkeypatch.setattr(self_players, "GpuSelfPlay", with_little_memory)
    player, _ = new_player("selfplay.games=64")
    assert player.games == 16


def test_too_few_games_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_memory(*arguments: object, **options: object) -> GpuSelfPlay:
        raise torch.cuda.OutOfMemoryError("out of memory")

    monkeypatch.setattr(self_players, "GpuSelfPlay", without_memory)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        new_player("selfplay.games=64")
