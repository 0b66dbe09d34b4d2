"""Captured updates; on a CPU graphs are plain calls, here with the calls that a capture makes."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.distributed import HashStore  # type: ignore[attr-defined]

from rookery.games import Game
from rookery.gpu import Graph
from rookery.learning import (
    GpuLearner,
    Learner,
    LearningConfig,
    ProcessGroup,
    RankLearner,
    RankSpec,
    captured,
)
from rookery.replay import Window
from tiny_net import TinyNet

CONFIG = LearningConfig(batch_size=32, precision="float32", warmup_updates=3, learning_rate=0.01)


class WarmGraph(Graph):
    """A graph that is called three times before it is used, as in a capture."""

    def __init__(self, function: Callable[[], None], device: torch.device) -> None:
        super().__init__(function, device)
        for _ in range(3):
            function()


@pytest.fixture(autouse=True)
def warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captured, "Graph", WarmGraph)


@pytest.mark.parametrize("restored", [False, True])
def test_a_capture_leaves_no_trace(
    restored: bool,
    tictactoe: Game,
    make_net: Callable[..., TinyNet],
    window: Window,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    states = []
    for kind in (WarmGraph, Graph):
        monkeypatch.setattr(captured, "Graph", kind)
        learner = GpuLearner(tictactoe, make_net(), config=CONFIG, seed=5)
        for _ in range(2):
            if restored:
                learner.restore(learner.state())  # is captured again
            learner.learn(window, 3, progress=0.3)
            learner.drain()
        states.append(learner.state())
    one, other = states
    assert one.keys() == other.keys()
    assert [name for name in one if one[name].tobytes() != other[name].tobytes()] == []


def assert_close(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert one.keys() == other.keys()
    for name, expected in other.items():
        np.testing.assert_allclose(one[name], expected, atol=1e-5, err_msg=name)


def test_the_updates_are_those_of_a_plain_learner(
    tictactoe: Game, make_net: Callable[..., TinyNet], window: Window
) -> None:
    plain = Learner(tictactoe, make_net(norm=False), config=CONFIG, seed=5)
    learner = GpuLearner(tictactoe, make_net(norm=False), config=CONFIG, seed=5)
    reports = []
    for updates in (4, 1, 3):
        reports.append(plain.learn(window, updates, progress=0.3))
        learner.learn(window, updates, progress=0.3)
        found = learner.drain()
        assert found is not None and found.updates == updates
        assert found.losses.total == pytest.approx(reports[-1].losses.total, rel=1e-5)
    assert_close(learner.state(), plain.state())


def test_capturing_again_after_a_restore_continues_from_the_moments(
    tictactoe: Game, make_net: Callable[..., TinyNet], window: Window
) -> None:
    plain = Learner(tictactoe, make_net(norm=False), config=CONFIG, seed=5)
    plain.learn(window, 5, progress=0.3)
    learner = GpuLearner(tictactoe, make_net(3, norm=False), config=CONFIG, seed=5)
    learner.restore(plain.state())
    plain.learn(window, 4, progress=0.3)
    learner.learn(window, 4, progress=0.3)
    learner.drain()
    assert_close(learner.state(), plain.state())


@pytest.mark.parametrize("method", ["distributed", "data_parallel"])
def test_a_rank_alone_makes_the_updates_of_a_plain_learner(
    method: str,
    tictactoe: Game,
    make_net: Callable[..., TinyNet],
    window: Window,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(RankLearner, "_can_capture", lambda rank, window: True)
    config = replace(CONFIG, method=method, sync_every=2)
    plain = Learner(tictactoe, make_net(norm=False), config=CONFIG, seed=5)
    rank = RankLearner(tictactoe, make_net(norm=False), config=config, seed=5)
    rank.join(RankSpec(HashStore(), generation=0, rank=0, size=1), source=0)
    for goal in (3, 7):
        result = rank.learn_until(window, goal, progress=0.3)
        assert result.report is not None and result.report.updates == goal - plain.updates
        plain.learn(window, goal - plain.updates, progress=0.3)
    assert_close(rank.state(), plain.state())


def test_shares_that_hardly_change_are_kept(
    tictactoe: Game,
    make_net: Callable[..., TinyNet],
    window: Window,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rates = [1.0, 1.0]
    monkeypatch.setattr(
        ProcessGroup, "all_gather", lambda group, own: [torch.tensor(rate) for rate in rates]
    )
    rank = RankLearner(tictactoe, make_net(norm=False), config=CONFIG, seed=5)
    rank.join(RankSpec(HashStore(), generation=0, rank=0, size=1), source=0)
    rank._set_shares([16, 16])
    rank._captured = captured.CapturedUpdates(rank, window)
    rates[:] = [1.0, 0.95]
    rank._balance(1.0)
    assert len(rank.offsets) == 16 and rank._captured is not None
    rates[:] = [1.0, 0.5]
    rank._balance(1.0)
    assert len(rank.offsets) == 21 and rank._captured is None
