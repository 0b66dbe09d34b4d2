"""How many trainers learn together: as many as asked for, or what `auto` chooses."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from rookery.base import ConfigError
from rookery.games import load_game
from rookery.learning import LearningConfig
from rookery.nets import NetConfig
from rookery.training import Config, recipe_for
from rookery.training.store.origin import new_net
from rookery.training.trainers import sizing

CPU = (torch.device("cpu"),)


def config_with(learning: LearningConfig, *, depth: int = 1) -> Config:
    """Return the settings of a run of Tic-Tac-Toe with a small network."""
    config = recipe_for("tictactoe")
    return replace(config, net=NetConfig(width=8, depth=depth), learning=learning)


def count(config: Config, devices: tuple[torch.device, ...] = CPU) -> int:
    """Return the number of trainers of a run."""
    game = load_game(config.game)
    return sizing.count_trainers(config, new_net(config, game), game=game, devices=devices)


@pytest.mark.parametrize(
    ("method", "speedup", "trainers"),
    [
        ("distributed", 3.5, 1),
        ("distributed", 2.5, 4),
        ("data_parallel", 3.5, 4),
        ("pipeline", 1.0, 1),
    ],
)
def test_auto_chooses_threads_or_trainers_by_their_speed(
    monkeypatch: pytest.MonkeyPatch, method: str, speedup: float, trainers: int
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(4))
    monkeypatch.setattr(sizing, "thread_speedup", lambda *arguments, **options: speedup)
    assert count(config_with(LearningConfig(method=method))) == trainers
    asked = LearningConfig(method=method, workers="3")
    assert count(config_with(asked)) == 3


@pytest.mark.parametrize(("method", "trainers"), [("distributed", 8), ("pipeline", 4)])
def test_auto_takes_every_gpu_that_has_work(method: str, trainers: int) -> None:
    devices = tuple(torch.device("cuda", index) for index in range(8))
    config = config_with(LearningConfig(method=method), depth=2)
    assert count(config, devices) == trainers


@pytest.mark.parametrize("batch", [{"batch_size": 2}, {"batch_size": 8, "accumulate": 4}])
def test_every_trainer_needs_a_row(batch: dict[str, Any]) -> None:
    learning = LearningConfig(method="distributed", workers="3", **batch)
    with pytest.raises(ConfigError, match="no row for each of 3 trainers"):
        count(config_with(learning))


def test_a_pipeline_refuses_trainers_without_a_part() -> None:
    learning = LearningConfig(method="pipeline", workers="5")
    config = config_with(learning, depth=2)
    with pytest.raises(ConfigError, match=r"is 5, expected at most 4: .* net.depth=2 into no more"):
        sizing.check_trainers(config)
    sizing.check_trainers(replace(config, learning=replace(learning, workers="4")))


def test_a_spiking_network_can_be_split() -> None:
    config = config_with(LearningConfig(method="pipeline", workers="3"))
    config = replace(config, net=replace(config.net, kind="spiking"))
    sizing.check_trainers(config)
    assert count(config) == 3
