"""How many trainers `auto` asks for."""

import pytest
import torch

from rookery.games import game
from rookery.learning import LearningConfig
from rookery.nets import NetConfig, build_net
from rookery.run import learners


@pytest.mark.parametrize(
    ("method", "gain", "trainers"),
    [("distributed", 3.5, 1), ("distributed", 2.5, 4), ("data_parallel", 3.5, 4)],
)
def test_auto_takes_whichever_is_faster(
    monkeypatch: pytest.MonkeyPatch, method: str, gain: float, trainers: int
) -> None:
    rules = game("tictactoe")
    net = build_net(NetConfig(width=8, depth=1), rules.planes_shape, rules.num_actions)
    monkeypatch.setattr(learners.os, "cpu_count", lambda: 4)
    monkeypatch.setattr(learners, "gain_of_threads", lambda *arguments, **options: gain)
    devices = (torch.device("cpu"),)
    config = LearningConfig(method=method)
    assert learners._count(config, net, game=rules, devices=devices) == trainers
    asked = LearningConfig(method=method, workers="3")
    assert learners._count(asked, net, game=rules, devices=devices) == 3
