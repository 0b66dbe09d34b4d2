"""How many trainers `auto` asks for."""

from dataclasses import replace

import pytest
import torch

from rookery.base import ConfigError
from rookery.games import load_game
from rookery.learning import LearningConfig
from rookery.nets import NetConfig, build_net
from rookery.training import learners, recipe_for


@pytest.mark.parametrize(
    ("method", "gain", "trainers"),
    [
        ("distributed", 3.5, 1),
        ("distributed", 2.5, 4),
        ("data_parallel", 3.5, 4),
        ("pipeline", 1.0, 1),
    ],
)
def test_auto_takes_whichever_is_faster(
    monkeypatch: pytest.MonkeyPatch, method: str, gain: float, trainers: int
) -> None:
    rules = load_game("tictactoe")
    net = build_net(NetConfig(width=8, depth=1), rules.planes_shape, rules.num_actions)
    monkeypatch.setattr(learners.os, "cpu_count", lambda: 4)
    monkeypatch.setattr(learners, "gain_of_threads", lambda *arguments, **options: gain)
    devices = (torch.device("cpu"),)
    config = LearningConfig(method=method)
    assert learners._count(config, net, game=rules, devices=devices) == trainers
    asked = LearningConfig(method=method, workers="3")
    assert learners._count(asked, net, game=rules, devices=devices) == 3


@pytest.mark.parametrize("more", [{"batch_size": 2}, {"batch_size": 8, "accumulate": 4}])
def test_every_trainer_needs_a_row(more: dict[str, int]) -> None:
    rules = load_game("tictactoe")
    net = build_net(NetConfig(width=8, depth=1), rules.planes_shape, rules.num_actions)
    learning = LearningConfig(method="distributed", workers="3", **more)
    config = replace(recipe_for("tictactoe"), learning=learning)
    with pytest.raises(ConfigError, match="no row for each of 3 trainers"):
        learners.new_learner(rules, net, config=config, tell=print)


@pytest.mark.parametrize(
    ("device", "workers", "reason"),
    [
        ("cpu", "5", "is 5, expected at most 4: .* net.depth=2 into no more parts"),
        ("cuda:0", "2", "is 2, expected at most 1: .* a GPU for each"),
    ],
)
def test_trainers_that_have_nothing_to_hold_are_refused(
    device: str, workers: str, reason: str
) -> None:
    learning = LearningConfig(method="pipeline", workers=workers)
    config = replace(recipe_for("tictactoe"), net=NetConfig(width=8, depth=2), learning=learning)
    with pytest.raises(ConfigError, match=rf"learning\.workers {reason}"):
        learners.check_trainers(config, (torch.device(device),))
    fewer = replace(config, learning=replace(learning, workers="1"))
    learners.check_trainers(fewer, (torch.device(device),))
