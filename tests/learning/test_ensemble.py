"""An ensemble learns: every member on its own, from the same window."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from rookery.base import FileDamaged
from rookery.games import Game
from rookery.learning import EnsembleLearner, Learner, LearningConfig
from rookery.nets import Ensemble
from rookery.replay import Window
from tiny_net import TinyNet

CONFIG = LearningConfig(batch_size=32, precision="float32", warmup_updates=3, learning_rate=0.01)


@pytest.fixture
def make_ensemble(
    tictactoe: Game, make_net: Callable[..., TinyNet]
) -> Callable[..., EnsembleLearner]:
    def make(first_seed: int = 0, size: int = 2) -> EnsembleLearner:
        return EnsembleLearner(
            [
                Learner(tictactoe, make_net(first_seed + n), config=CONFIG, seed=5 + n)
                for n in range(size)
            ]
        )

    return make


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(
        one[name].tobytes() == other[name].tobytes() for name in one
    )


def test_members_learn_what_each_learns_alone(
    tictactoe: Game,
    make_ensemble: Callable[..., EnsembleLearner],
    make_net: Callable[..., TinyNet],
    window: Window,
) -> None:
    ensemble = make_ensemble()
    report = ensemble.learn(window, 4, progress=0.2)
    assert report is not None and (report.updates, report.rows) == (4, 2 * 4 * 32)
    losses = []
    for n in range(2):
        alone = Learner(tictactoe, make_net(n), config=CONFIG, seed=5 + n)
        losses.append(alone.learn(window, 4, progress=0.2).losses.total)
        expected = {f"{n}.{name}": array for name, array in alone.state().items()}
        assert same({name: ensemble.state()[name] for name in expected}, expected)
    assert report.losses.total == pytest.approx(sum(losses) / 2)


def test_the_mean_of_the_members_plays(
    make_ensemble: Callable[..., EnsembleLearner], window: Window
) -> None:
    ensemble = make_ensemble()
    ensemble.learn(window, 4, progress=0.2)
    assert isinstance(ensemble.play_net, Ensemble)
    batch = window.batch(np.array([0]), np.arange(8), stream=np.uint64(1), result_mix=0.5)
    with torch.no_grad():
        _, found = ensemble.play_net(batch.planes)
        values = [member(batch.planes)[1].softmax(1) for member in ensemble.play_net.members]
    assert (values[0] - values[1]).abs().max() > 1e-3
    torch.testing.assert_close(found.softmax(1), (values[0] + values[1]) / 2)


def test_a_restored_ensemble_continues_bit_for_bit(
    make_ensemble: Callable[..., EnsembleLearner], window: Window
) -> None:
    whole, first, second = make_ensemble(), make_ensemble(), make_ensemble(7)
    whole.learn(window, 6, progress=0.2)
    first.learn(window, 3, progress=0.2)
    second.restore(first.state())
    assert second.updates == 3
    second.learn(window, 3, progress=0.2)
    assert same(second.state(), whole.state())


def test_members_that_were_interrupted_catch_up(
    make_ensemble: Callable[..., EnsembleLearner], window: Window
) -> None:
    class Enough(Exception):
        """Interrupts the second member."""

    ensemble, calls = make_ensemble(), iter(range(6))

    def check() -> None:
        if next(calls, None) is None:
            raise Enough

    with pytest.raises(Enough):
        ensemble.learn(window, 4, progress=0.2, check=check)
    assert ensemble.updates == 3 and ensemble.state()["0.updates"] == 4
    ensemble.learn(window, 5, progress=0.2)
    assert ensemble.updates == ensemble.state()["0.updates"] == ensemble.state()["1.updates"] == 8


def test_all_members_take_another_learning_rate(
    make_ensemble: Callable[..., EnsembleLearner], window: Window
) -> None:
    usual, slower = make_ensemble(), make_ensemble()
    slower.set_learning_rate(1e-6)
    assert slower.config.learning_rate == 1e-6
    before = usual.state()
    for ensemble in (usual, slower):
        ensemble.learn(window, 3, progress=0.2)
    for name in ("0.net.conv.weight", "1.net.conv.weight"):
        moved = [np.abs(each.state()[name] - before[name]).max() for each in (usual, slower)]
        assert 0 < moved[1] < 0.01 * moved[0]


def test_the_state_of_another_number_of_members_is_refused(
    make_ensemble: Callable[..., EnsembleLearner],
) -> None:
    two, three = make_ensemble(), make_ensemble(size=3)
    with pytest.raises(FileDamaged, match=r"has no 2\."):
        two.restore(three.state())
    with pytest.raises(FileDamaged, match="should have shape"):
        three.restore(two.state())
    with pytest.raises(FileDamaged, match="has no updates"):
        two.restore({**two.state(), "updates": np.zeros(1)})


def test_frozen_parts_of_all_members_stay_the_same(
    tictactoe: Game, make_net: Callable[..., TinyNet], window: Window
) -> None:
    config = replace(CONFIG, freeze="conv,norm")
    members = [Learner(tictactoe, make_net(n), config=config, seed=n) for n in range(2)]
    ensemble = EnsembleLearner(members)
    before = ensemble.state()
    ensemble.learn(window, 2, progress=0.2)
    after = ensemble.state()
    for name in ("0.net.conv.weight", "1.net.conv.weight", "1.play.norm.running_var"):
        assert np.array_equal(before[name], after[name])
