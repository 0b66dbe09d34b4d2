"""Learning that fails: the run goes back to its last good state and continues more slowly."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from rookery.learning import Learner, LearningDiverged
from rookery.training import Config, RunFolder, Stats, apply, train
from rookery.training.store.checkpoint import Checkpoint

TOO_FAST = ["learning.learning_rate=1e6", "learning.clip_norm=1e9", "learning.warmup_updates=0"]
TRAINERS = ["learning.method=distributed", "learning.workers=2", "learning.silence_seconds=20"]


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Updates at which a step fails; each fails once."""
    updates: list[int] = []
    clip = Learner._clip

    def fail(learner: Learner) -> Any:
        if learner.updates in updates:
            updates.remove(learner.updates)
            raise RuntimeError("the device is lost, on purpose")
        return clip(learner)

    monkeypatch.setattr(Learner, "_clip", fail)
    yield updates


def run_to_end(path: Path, config: Config, *settings: str) -> RunFolder:
    """Train a new run, and return its folder."""
    folder = RunFolder.create(path, apply(config, settings))
    train(folder, lambda progress: None)
    return folder


def notes(run: Path) -> list[str]:
    return [line["note"] for line in Stats(run).lines() if line["kind"] == "note"]


def updates_made(run: Path) -> int:
    found = Checkpoint.load(run)
    assert found is not None
    return int(found.learner["updates"][0])


def test_a_failed_step_is_repeated_and_no_update_is_lost(
    finished: RunFolder, tiny_config: Config, tmp_path: Path, fails: list[int]
) -> None:
    about = updates_made(finished.path)
    fails += [3, about // 2, about - 2]
    folder = run_to_end(tmp_path / "run", tiny_config)
    assert not fails
    *_, last = (line for line in Stats(folder.path).lines() if line["kind"] == "iteration")
    learning = tiny_config.learning
    total = int(learning.reuse * last["window"]["rows_made"] / learning.batch_size)
    assert updates_made(folder.path) == total
    said = notes(folder.path)
    assert len(said) == 3
    assert "the device is lost" in said[0] and "half the learning rate" in said[0]
    rate = tiny_config.learning.learning_rate / 8
    assert RunFolder(folder.path).config.learning.learning_rate == pytest.approx(rate)
    per_iteration = [
        line["learning"]["updates"]
        for line in Stats(folder.path).lines()
        if line["kind"] == "iteration" and line["learning"]
    ]
    assert sum(per_iteration) == total


@pytest.mark.parametrize("settings", [[], TRAINERS])
def test_a_rate_that_is_far_too_high_is_lowered_until_losses_are_finite(
    settings: list[str], tiny_config: Config, tmp_path: Path
) -> None:
    tolerant = [*TOO_FAST, "learning.retries=40", "run.seed=2", *settings]
    folder = run_to_end(tmp_path / "run", tiny_config, *tolerant)
    assert any("expected finite numbers" in note for note in notes(folder.path))
    assert folder.config.learning.learning_rate < 1e6 / 2
    weights = folder.load_weights(6).state.values()
    assert all(tensor.isfinite().all() for tensor in weights)
    assert updates_made(folder.path) > 10


def test_a_run_that_fails_again_and_again_ends_with_its_state_saved(
    tiny_config: Config, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with pytest.raises(LearningDiverged, match=r"lower learning\.learning_rate"):
        run_to_end(run, tiny_config, *TOO_FAST, "learning.retries=2", "run.checkpoint_every=100")
    assert len(notes(run)) == 2
    found = Checkpoint.load(run)
    assert found is not None and all(
        torch.from_numpy(array).isfinite().all() for array in found.learner.values()
    )
    folder = RunFolder(run)
    folder.change(apply(folder.config, ["learning.learning_rate=1e-3"]))
    train(folder, lambda progress: None)
    assert [*Stats(run).lines()][-1]["kind"] == "finished"
