"""The learning rate against torch's own cosine."""

import pytest
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR

from rookery.learning import LearningConfig, learning_rate


def test_the_cosine_is_torchs() -> None:
    config = LearningConfig(learning_rate=0.02, final_rate=0.1, warmup_updates=0)
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.02)
    scheduler = CosineAnnealingLR(optimizer, T_max=50, eta_min=0.002)
    for step in range(51):
        found = learning_rate(step / 50, step, config=config)
        assert found == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-6)
        optimizer.step()
        scheduler.step()


def test_the_warm_up_is_a_straight_line_to_the_peak() -> None:
    config = LearningConfig(learning_rate=0.02, warmup_updates=4)
    rates = [learning_rate(0.0, update, config=config) for update in range(6)]
    assert rates == pytest.approx([0.005, 0.01, 0.015, 0.02, 0.02, 0.02])


def test_the_end_is_the_final_share() -> None:
    config = LearningConfig(learning_rate=0.02, final_rate=0.25)
    assert learning_rate(1.0, 10_000, config=config) == pytest.approx(0.005)


def test_a_short_decay_is_the_same_cosine_at_the_end_of_the_run() -> None:
    whole = LearningConfig(learning_rate=0.02, final_rate=0.1, warmup_updates=0)
    short = LearningConfig(learning_rate=0.02, final_rate=0.1, warmup_updates=0, decay_share=0.25)
    for progress in (0.0, 0.4, 0.75):
        assert learning_rate(progress, 0, config=short) == 0.02
    for progress in (0.2, 0.5, 1.0):
        found = learning_rate(0.75 + progress / 4, 0, config=short)
        assert found == pytest.approx(learning_rate(progress, 0, config=whole))


@pytest.mark.parametrize("progress", [-0.1, 1.1, float("nan")])
def test_progress_outside_the_run_is_refused(progress: float) -> None:
    with pytest.raises(ValueError, match="progress"):
        learning_rate(progress, 0, config=LearningConfig())
