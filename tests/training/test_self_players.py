"""Self-play on a GPU whose memory is too small; no GPU is needed."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from rookery.games import load_game
from rookery.selfplay import SelfPlayConfig
from rookery.training import apply, recipe_for, self_players


@dataclass
class FakeSelfPlay:
    """Games that fit into memory if there are at most `capacity`."""

    config: SelfPlayConfig
    capacity: int

    def __post_init__(self) -> None:
        if self.config.games > self.capacity:
            raise torch.cuda.OutOfMemoryError("out of memory, on purpose")


@pytest.mark.parametrize(
    ("asked", "capacity", "expected"),
    [(1024, 1024, 1024), (1024, 1023, 256), (1024, 300, 128), (1000, 60, 31), (64, 16, 16)],
)
def test_games_that_do_not_fit_leave_memory_for_learning(
    asked: int, capacity: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def new(*args: Any, config: SelfPlayConfig, **options: Any) -> FakeSelfPlay:
        return FakeSelfPlay(config, capacity)

    monkeypatch.setattr(self_players, "GpuSelfPlay", new)
    config = apply(recipe_for("tictactoe"), [f"selfplay.games={asked}"])
    evaluator: Any = SimpleNamespace(selfplay_evaluator=None)
    found = self_players._fit_games(load_game("tictactoe"), config, evaluator, seed=1)
    assert found.config.games == expected


def test_memory_too_small_for_a_few_games_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        self_players, "GpuSelfPlay", lambda *args, config, **options: FakeSelfPlay(config, 7)
    )
    evaluator: Any = SimpleNamespace(selfplay_evaluator=None)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        self_players._fit_games(load_game("tictactoe"), recipe_for("tictactoe"), evaluator, seed=1)
