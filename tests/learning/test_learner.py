"""The learner: it learns, averages its weights, and continues bit for bit."""

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from rookery.base import FileDamaged, RookeryError, read_arrays, seeds, write_arrays
from rookery.games import Game
from rookery.learning import GpuLearner, Learner, LearningConfig, LearningDiverged
from rookery.replay import Batch, Window, prefetch
from tiny_net import TinyNet

CONFIG = LearningConfig(batch_size=32, precision="float32", warmup_updates=3, learning_rate=0.01)


@pytest.fixture
def make_learner(tictactoe: Game, make_net: Callable[..., TinyNet]) -> Callable[..., Learner]:
    def make(config: LearningConfig = CONFIG, *, net_seed: int = 0, norm: bool = True) -> Learner:
        return Learner(tictactoe, make_net(net_seed, norm), config=config, seed=5)

    return make


def draw(window: Window, step: int = 0, batch_size: int = 32) -> Batch:
    return dealt(window, step, batch_size, stream=np.uint64(9))


def dealt(window: Window, update: int, batch_size: int, *, stream: np.uint64) -> Batch:
    card, offsets = np.array([batch_size * update]), np.arange(batch_size)
    return window.batch(card, offsets, stream=stream, result_mix=0.5)


def same_bits(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(
        one[name].tobytes() == other[name].tobytes() for name in one
    )


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_ten_updates_equal_five_saved_restored_and_five_more(
    tmp_path: Path, make_learner: Callable[..., Learner], window: Window, optimizer: str
) -> None:
    config = replace(CONFIG, optimizer=optimizer)
    whole = make_learner(config)
    whole.learn(window, 10, progress=0.3)

    first = make_learner(config)
    first.learn(window, 5, progress=0.3)
    write_arrays(tmp_path / "learner", first.state())
    second = make_learner(config, net_seed=77)
    second.restore(read_arrays(tmp_path / "learner")[0])
    assert not same_bits(second.state(), whole.state())
    second.learn(window, 5, progress=0.3)

    assert same_bits(second.state(), whole.state())
    assert second.updates == 10


def test_an_untouched_learner_restores_into_an_untouched_learner(
    make_learner: Callable[..., Learner], window: Window
) -> None:
    first, second = make_learner(), make_learner(net_seed=3)
    second.restore(first.state())
    for learner in (first, second):
        learner.learn(window, 2, progress=0.0)
    assert same_bits(first.state(), second.state())


def test_another_optimizer_continues_with_the_weights_and_new_moments(
    make_learner: Callable[..., Learner], window: Window
) -> None:
    first, second = make_learner(), make_learner(replace(CONFIG, optimizer="muon"))
    first.learn(window, 5, progress=0.3)
    second.restore(first.state())
    assert second.updates == 5
    assert same_bits(second.play_arrays(), first.play_arrays())
    before = first.learn(window, 1, progress=0.3).losses
    assert second.learn(window, 1, progress=0.3).losses.total == pytest.approx(before.total)
    moments = {name for name in second.state() if name.startswith("optimizer.")}
    assert "optimizer.conv.weight.momentum" in moments
    assert "optimizer.policy.weight.exp_avg" in moments
    assert "optimizer.conv.weight.exp_avg" not in moments


def test_the_state_of_another_net_is_refused(
    tictactoe: Game, make_learner: Callable[..., Learner], make_net: Callable[..., TinyNet]
) -> None:
    learner = make_learner()
    with pytest.raises(FileDamaged, match=r"net\.norm\.weight"):
        learner.restore(make_learner(norm=False).state())
    wrong = learner.state() | {"net.conv.weight": np.zeros((3, 3), np.float32)}
    with pytest.raises(FileDamaged, match=r"net\.conv\.weight should have shape"):
        learner.restore(wrong)


def test_the_loss_falls_to_the_entropy_of_the_targets(
    make_learner: Callable[..., Learner], make_window: Callable[..., Window]
) -> None:
    window = make_window([[0, 1], [0, 5], [0, 1, 4], [0, 5, 4]])  # no two turn into each other
    learner = make_learner(replace(CONFIG, batch_size=64))
    before = learner.learn(window, 1, progress=0.0).losses
    for progress in (0.0, 0.5, 1.0):
        after = learner.learn(window, 60, progress=progress).losses
    batch = draw(window, batch_size=2000)
    floor = torch.special.entr(batch.wdl).sum(1).mean().item()
    assert before.policy_kl > 0.2
    assert after.policy_kl < 0.02
    assert after.value == pytest.approx(floor, abs=0.05)
    assert before.value > floor + 0.2
    assert after.policy_accuracy > 0.9


def test_accumulated_parts_equal_one_large_batch(
    make_learner: Callable[..., Learner], window: Window
) -> None:
    whole = make_learner(norm=False)
    parts = make_learner(replace(CONFIG, accumulate=4), norm=False)
    for step in range(3):
        one, four = (learner.update(draw(window, step), 0.2) for learner in (whole, parts))
        assert one.total == pytest.approx(four.total, rel=1e-5)
        assert one.gradient_norm == pytest.approx(four.gradient_norm, rel=1e-4)
    for left, right in zip(whole.net.parameters(), parts.net.parameters(), strict=True):
        assert torch.allclose(left, right, atol=1e-5)


def test_an_update_is_that_of_torchs_adamw(
    make_learner: Callable[..., Learner], make_net: Callable[..., TinyNet], window: Window
) -> None:
    config = replace(CONFIG, warmup_updates=0, clip_norm=1e9, weight_decay=0.1)
    learner = make_learner(config, norm=False)  # a bias before a norm has no gradient but noise
    net = make_net(norm=False)
    vectors = [weight for weight in net.parameters() if weight.ndim == 1]
    optimizer = torch.optim.AdamW(
        [
            {"params": [w for w in net.parameters() if w.ndim > 1], "weight_decay": 0.1},
            {"params": vectors, "weight_decay": 0.0},
        ],
        lr=config.learning_rate,
        foreach=False,
    )
    for step in range(3):
        batch = draw(window, step)
        learner.update(batch, 0.0)
        logits, wdl = net(batch.planes)
        logits = logits.masked_fill(~batch.legal, -1e9)
        loss = -(batch.policy * logits.log_softmax(1)).sum(1).mean()
        loss = loss - (batch.wdl * wdl.log_softmax(1)).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for found, expected in zip(learner.net.parameters(), net.parameters(), strict=True):
        assert torch.allclose(found, expected, atol=2e-4)


def test_long_gradients_are_clipped(make_learner: Callable[..., Learner], window: Window) -> None:
    short, long = make_learner(replace(CONFIG, clip_norm=1e-3)), make_learner()
    batch = draw(window)
    assert short.update(batch, 0.0).gradient_norm == long.update(batch, 0.0).gradient_norm
    norm = torch.stack([w.grad.norm() for w in short.net.parameters() if w.grad is not None]).norm()
    assert norm.item() == pytest.approx(1e-3, rel=1e-2)


def test_the_play_net_is_the_average_of_weights_and_norm_statistics(
    make_learner: Callable[..., Learner], window: Window
) -> None:
    learner = make_learner(replace(CONFIG, ema=0.3))
    average = {name: value.clone() for name, value in learner.net.state_dict().items()}
    for update in range(5):
        learner.update(draw(window, update), 0.0)
        keep = min(0.3, (1 + update) / (10 + update))
        for name, value in learner.net.state_dict().items():
            if value.is_floating_point():
                average[name] = keep * average[name] + (1 - keep) * value
            else:
                average[name] = value.clone()
    for name, value in learner.play_net.state_dict().items():
        assert torch.allclose(value, average[name], atol=1e-6), name
    assert not learner.play_net.training
    assert learner.net.training


def test_the_early_average_forgets_the_random_start(
    make_learner: Callable[..., Learner], window: Window
) -> None:
    learner = make_learner(replace(CONFIG, ema=0.998))
    weight = learner.net.get_parameter("conv.weight")
    start = weight.detach().clone()
    learner.learn(window, 30, progress=0.0)
    moved = (weight - start).norm()
    behind = (weight - learner.play_net.get_parameter("conv.weight")).norm()
    assert behind < 0.5 * moved


def test_the_report_counts_what_was_done(
    make_learner: Callable[..., Learner], window: Window
) -> None:
    report = make_learner(replace(CONFIG, warmup_updates=0)).learn(window, 4, progress=1.0)
    assert (report.updates, report.rows) == (4, 128)
    assert report.learning_rate == pytest.approx(0.001)
    assert report.rows_per_second > 0


def test_learning_reports_the_mean_of_its_updates(
    make_learner: Callable[..., Learner], window: Window
) -> None:
    one, other = make_learner(), make_learner()
    report = one.learn(window, 3, progress=0.1)
    stream = seeds(1, 5, "batches")[0]
    batches = [dealt(window, update, 32, stream=stream) for update in range(3)]
    totals = [other.update(batch, 0.1).total for batch in batches]
    assert report.losses.total == pytest.approx(np.mean(totals), rel=1e-9)
    assert same_bits(one.state(), other.state())


def test_a_loss_that_is_no_number_stops_the_learner_and_names_the_update(
    make_learner: Callable[..., Learner], window: Window
) -> None:
    learner = make_learner()
    learner.learn(window, 2, progress=0.0)
    batch = draw(window)
    batch.planes[3, 0, 0, 0] = np.nan
    with pytest.raises(LearningDiverged, match="update 2 gave") as raised:
        learner.update(batch, 0.0)
    assert isinstance(raised.value, RookeryError)
    with pytest.raises(LearningDiverged, match="update 3 gave"):
        learner.learn(window, 2, progress=0.0)


def test_a_check_is_made_after_every_update_and_may_stop_them(
    make_learner: Callable[..., Learner], window: Window
) -> None:
    learner = make_learner()
    seen: list[int] = []

    def stop_at_three() -> None:
        seen.append(learner.updates)
        if learner.updates == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learner.learn(window, 10, progress=0.0, check=stop_at_three)
    assert seen == [1, 2, 3]
    learner.learn(window, 2, progress=0.0)
    whole = make_learner()
    whole.learn(window, 5, progress=0.0)
    assert same_bits(learner.state(), whole.state())


def test_learning_nothing_is_refused(make_learner: Callable[..., Learner], window: Window) -> None:
    with pytest.raises(ValueError, match="num_updates is 0"):
        make_learner().learn(window, 0, progress=0.0)


def test_precision_is_measured_once_and_then_one_of_the_two(
    make_learner: Callable[..., Learner], make_net: Callable[..., TinyNet]
) -> None:
    learner = make_learner(replace(CONFIG, precision="auto"))
    assert learner.precision in ("float32", "bfloat16")
    for name, value in make_net().state_dict().items():
        assert torch.equal(learner.net.state_dict()[name], value), name


@pytest.mark.filterwarnings("ignore:mkldnn")
def test_bfloat16_learns_about_the_same(
    make_learner: Callable[..., Learner], window: Window
) -> None:
    batch = draw(window)
    single = make_learner().update(batch, 0.0)
    half = make_learner(replace(CONFIG, precision="bfloat16")).update(batch, 0.0)
    assert half.total == pytest.approx(single.total, rel=0.05)
    assert half.total != single.total


def changed(learner: Learner, before: dict[str, np.ndarray]) -> set[str]:
    """Return the modules whose weights or statistics differ from those `before`."""
    after = learner.state()
    names = [name for name in before if name.startswith(("net.", "play."))]
    return {n.rpartition(".")[0] for n in names if before[n].tobytes() != after[n].tobytes()}


def test_frozen_parts_stay_the_same_bit_for_bit(
    make_learner: Callable[..., Learner], window: Window
) -> None:
    learner = make_learner(replace(CONFIG, freeze="conv, norm", weight_decay=0.5))
    before = learner.state()
    learner.learn(window, 5, progress=0.3)
    assert changed(learner, before) == {"net.policy", "play.policy", "net.wdl", "play.wdl"}
    assert not [name for name in learner.state() if name.startswith("optimizer.conv")]


def test_a_part_can_be_frozen_and_released_between_sessions(
    make_learner: Callable[..., Learner], window: Window
) -> None:
    free, frozen = CONFIG, replace(CONFIG, freeze="conv,norm")
    first = make_learner(free)
    first.learn(window, 3, progress=0.3)
    second = make_learner(frozen)
    second.restore(first.state())
    before = second.state()
    assert np.array_equal(before["net.conv.weight"], first.state()["play.conv.weight"])
    second.learn(window, 3, progress=0.3)
    assert not changed(second, before) & {"net.conv", "play.conv", "net.norm", "play.norm"}
    third = make_learner(free)
    third.restore(second.state())
    before = third.state()
    third.learn(window, 3, progress=0.3)
    assert {"net.conv", "play.conv", "net.norm", "play.norm"} <= changed(third, before)


def test_a_learner_for_a_gpu_freezes_the_part_that_plays_too(
    tictactoe: Game,
    make_learner: Callable[..., Learner],
    make_net: Callable[..., TinyNet],
    window: Window,
) -> None:
    first, config = make_learner(), replace(CONFIG, freeze="conv")
    first.learn(window, 3, progress=0.3)
    second = GpuLearner(tictactoe, make_net(3), config=config, seed=5)
    second.restore(first.state())
    expected = first.state()["play.conv.weight"]
    assert np.array_equal(second.state()["net.conv.weight"], expected)
    assert np.array_equal(second.state()["play.conv.weight"], expected)


def test_a_part_that_was_frozen_from_the_start_can_be_released(
    make_learner: Callable[..., Learner], window: Window
) -> None:
    first, second = make_learner(replace(CONFIG, freeze="conv")), make_learner()
    first.learn(window, 2, progress=0.3)
    second.restore(first.state())
    before = second.state()
    second.learn(window, 2, progress=0.3)
    assert "net.conv" in changed(second, before)
    assert second.state()["optimizer.conv.weight.step"] == 2
    assert second.state()["optimizer.wdl.weight.step"] == 4


@pytest.mark.parametrize("depth", [0, 1, 5])
def test_prefetching_changes_no_weight(
    make_learner: Callable[..., Learner],
    window: Window,
    monkeypatch: pytest.MonkeyPatch,
    depth: int,
) -> None:
    depths = []

    def spy(items: Iterable[Batch], depth: int) -> Generator[Batch, None, None]:
        depths.append(depth)
        return prefetch(items, depth)

    usual, other = make_learner(), make_learner(replace(CONFIG, prefetch=depth))
    usual.learn(window, 3, progress=0.1)
    monkeypatch.setattr("rookery.learning.learner.prefetch", spy)
    other.learn(window, 3, progress=0.1)
    assert depths == [depth]
    assert same_bits(usual.state(), other.state())


@pytest.mark.parametrize("pin_memory", [True, False])
def test_batches_for_a_gpu_are_pinned_if_the_setting_says_so(
    make_learner: Callable[..., Learner],
    window: Window,
    monkeypatch: pytest.MonkeyPatch,
    pin_memory: bool,
) -> None:
    pinned = []

    def pin(batch: Batch) -> Batch:
        pinned.append(len(batch))
        return batch

    learner = make_learner(replace(CONFIG, pin_memory=pin_memory))
    monkeypatch.setattr(Batch, "pinned", pin)
    learner._batch(window, 0)
    assert not pinned, "the network is on the CPU"
    on_gpu = SimpleNamespace(parameters=lambda: iter([SimpleNamespace(is_cuda=True)]))
    monkeypatch.setattr(learner, "net", on_gpu)
    learner._batch(window, 0)
    assert pinned == [learner.config.batch_size] * pin_memory
