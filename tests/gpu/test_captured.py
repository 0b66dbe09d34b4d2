"""Captured updates on a GPU: exactly those asked for, in one process and in a trainer."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn
from torch.distributed import HashStore  # type: ignore[attr-defined]

from rookery.games import load_game
from rookery.gpu import use_device
from rookery.learning import GpuLearner, Learner, LearningConfig, RankLearner, RankSpec
from rookery.nets import NetConfig, build_net
from rookery.replay import ReplayConfig, Window, new_rows

pytestmark = pytest.mark.gpu
GAME = load_game("connect4")
ROWS = 4096
CONFIG = LearningConfig(batch_size=256, precision="float32", warmup_updates=4)
ROUNDING = 0.02
"""Largest distance between the results of two devices, as a share of the way from the start."""


@pytest.fixture
def device() -> torch.device:
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    device = torch.device("cuda", 0)
    use_device(device)
    return device


def new_window(device: torch.device) -> Window:
    """Return a window of start positions with random targets."""
    window = Window(GAME, ReplayConfig(window_min=ROWS), device)
    rows, rng = new_rows(GAME, ROWS), np.random.default_rng(1)
    rows.states[:] = GAME.new_states(ROWS)
    rows.results[:] = rng.integers(-1, 2, ROWS)
    rows.num_legal[:] = GAME.num_actions
    rows.legal[:] = np.arange(GAME.num_actions)
    rows.policy[:] = rng.integers(1, 100, rows.policy.shape)
    window.add(rows)
    return window


def new_net(device: torch.device) -> nn.Module:
    net = build_net(NetConfig(width=16, depth=2), GAME.planes_shape, GAME.num_actions, seed=1)
    return net.to(device)


def weights(learner: Learner | GpuLearner) -> NDArray[np.float32]:
    """Return the averaged weights as one vector."""
    return np.concatenate([array.ravel() for array in learner.play_arrays().values()])


def new_rank(method: str, device: torch.device) -> RankLearner:
    config = replace(CONFIG, method=method, sync_every=4)
    rank = RankLearner(GAME, new_net(device), config=config, seed=3)
    rank.join(RankSpec(HashStore(), generation=0, rank=0, size=1), source=0)
    return rank


@pytest.mark.parametrize("method", ["single", "distributed", "data_parallel"])
def test_captured_updates_are_those_of_a_plain_learner(method: str, device: torch.device) -> None:
    cpu = torch.device("cpu")
    plain = Learner(GAME, new_net(cpu), config=CONFIG, seed=3)
    start = weights(plain)
    plain.learn(new_window(cpu), 11, progress=0.3)
    learner: GpuLearner | RankLearner = GpuLearner(GAME, new_net(device), config=CONFIG, seed=3)
    if method != "single":
        learner = new_rank(method, device)
    window = new_window(device)
    for updates in (2, 9):
        report = learner.learn(window, updates, progress=0.3)
        report = learner.drain() if isinstance(learner, GpuLearner) else report
        assert report is not None and report.updates == updates
    assert learner._captured is not None and learner.updates == 11
    way = np.linalg.norm(weights(plain) - start)
    assert np.linalg.norm(weights(learner) - weights(plain)) < ROUNDING * way
