"""A resumed run equals one that was never interrupted, bit for bit, wherever it was stopped."""

import os
import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rookery.base import RunFolderError
from rookery.nets import CpuEvaluator, is_int8_supported
from rookery.training import Progress, ProgressCallback, RunFolder, Stats, Stopped, apply, train
from rookery.training.factory import _as_before, open_loop
from rookery.training.measuring import LocalMeter
from rookery.training.run import Run
from rookery.training.store.checkpoint import Checkpoint

Trace = Callable[[Path], Any]
pytestmark = pytest.mark.usefixtures("quick_strength")


class Killed(BaseException):
    """Ends a run as a killed process would: no part handles it."""


def ignore(progress: Progress) -> None:
    """Let the run go on."""


def interrupt(error: type[BaseException], phase: str, *, after: int, nth: int) -> ProgressCallback:
    """Return a callback that raises at the nth call of a phase, `after` iterations into the run."""
    left = [nth]

    def callback(progress: Progress) -> None:
        if (progress.phase, progress.iteration) == (phase, after):
            left[0] -= 1
            if left[0] == 0:
                raise error

    return callback


def reached(run: Path) -> int:
    """Return the iteration of the checkpoint, 0 before the first one."""
    found = Checkpoint.load(run)
    return found.position.iteration if found else 0


@pytest.fixture
def folder(finished: RunFolder, tmp_path: Path) -> RunFolder:
    """A new run with the settings of the finished one."""
    return RunFolder.create(tmp_path / "run", finished.config)


@pytest.fixture
def check_equal(finished: RunFolder, trace: Trace) -> Callable[[Path], None]:
    """Return a function that compares a run with the one that was never stopped."""

    def check(run: Path) -> None:
        expected, found = trace(finished.path), trace(run)
        for field in fields(expected):
            assert getattr(found, field.name) == getattr(expected, field.name), field.name

    return check


def test_the_uninterrupted_run_exercises_all_parts(finished: RunFolder, trace: Trace) -> None:
    """It learns, measures its strength twice, and drops rows from its window."""
    found = trace(finished.path)
    window = [line["window"] for line in Stats(finished.path).lines() if "window" in line]
    assert window[-1]["rows"] < window[-1]["rows_made"]
    assert 1 < len(found.shards) < 6
    assert sum('"strength"' in line for line in found.stats) == 2
    assert any(name.startswith("0/optimizer") for name in found.arrays)


def test_another_seed_gives_another_run(
    folder: RunFolder, finished: RunFolder, trace: Trace
) -> None:
    folder.change(apply(folder.config, ["run.seed=2"]))
    train(folder, ignore)
    expected, found = trace(finished.path), trace(folder.path)
    for name in ("weights", "arrays", "shards", "stats"):
        assert getattr(found, name) != getattr(expected, name)


def test_the_seed_reaches_the_first_weights(finished: RunFolder, tmp_path: Path) -> None:
    first = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        config = apply(finished.config, [f"run.seed={seed}"])
        with open_loop(RunFolder.create(tmp_path / name, config), ignore) as loop:
            first.append(loop.learner.state())
    weights = [name for name in first[0] if name.startswith("net.") and "conv.weight" in name]
    assert weights
    for name in weights:
        assert np.array_equal(first[0][name], first[1][name])
        assert not np.array_equal(first[0][name], first[2][name])


@pytest.mark.parametrize(
    ("phase", "after", "nth", "kept"),
    [
        ("self-play", 0, 3, 0),
        ("self-play", 3, 5, 3),
        ("learning", 3, 1, 3),
        ("learning", 5, 3, 5),
        ("measuring", 4, 2, 3),
        ("checkpoint", 4, 1, 4),
        ("measuring", 6, 2, 6),
    ],
)
def test_a_stopped_run_resumes_exactly(
    folder: RunFolder, check_equal: Any, phase: str, after: int, nth: int, kept: int
) -> None:
    last = train(folder, interrupt(Stopped, phase, after=after, nth=nth))
    assert (last.phase, last.iteration) == (phase, after)
    assert reached(folder.path) == kept
    assert max(line["iteration"] for line in Stats(folder.path).lines()) == kept
    train(RunFolder(folder.path), ignore)
    check_equal(folder.path)


@pytest.mark.parametrize(
    ("phase", "after", "nth", "kept"),
    [
        ("self-play", 1, 3, 0),
        ("learning", 3, 1, 2),
        ("learning", 5, 3, 4),
        ("measuring", 4, 2, 2),
        ("checkpoint", 6, 1, 4),
        ("measuring", 6, 2, 6),
    ],
)
def test_a_killed_run_repeats_what_it_lost(
    folder: RunFolder, check_equal: Any, phase: str, after: int, nth: int, kept: int
) -> None:
    with pytest.raises(Killed):
        train(folder, interrupt(Killed, phase, after=after, nth=nth))
    assert reached(folder.path) == kept
    train(RunFolder(folder.path), ignore)
    check_equal(folder.path)


def test_a_run_stopped_in_every_iteration_loses_nothing(
    folder: RunFolder, check_equal: Any
) -> None:
    for after in range(6):
        phase, nth = (("self-play", 3), ("learning", 1))[after % 2]
        train(RunFolder(folder.path), interrupt(Stopped, phase, after=after, nth=nth))
        assert reached(folder.path) == after
    train(RunFolder(folder.path), ignore)
    check_equal(folder.path)


@pytest.mark.parametrize(
    ("file", "is_done", "kept"),
    [
        ("weights/000004", True, 2),
        ("checkpoint", False, 2),
        ("checkpoint", True, 4),
        ("replay/000004", True, 4),
    ],
)
def test_a_run_killed_while_it_writes_a_file_resumes_exactly(
    folder: RunFolder, check_equal: Any, file: str, is_done: bool, kept: int
) -> None:
    """Kill it before or after a draft replaces the file; the checkpoint at its second write."""
    replace, left = os.replace, [2 if file == "checkpoint" else 1]

    def replace_and_kill(source: Path, target: Path) -> None:
        left[0] -= str(target).startswith(str(folder.path / file))
        if left[0] or is_done:
            replace(source, target)
        if not left[0]:
            raise Killed

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        patch.setattr(os, "replace", replace_and_kill)
        train(folder, ignore)
    assert reached(folder.path) == kept
    train(RunFolder(folder.path), ignore)
    check_equal(folder.path)


def test_a_truncated_last_line_of_statistics_is_written_again(
    folder: RunFolder, check_equal: Any
) -> None:
    with pytest.raises(Killed):
        train(folder, interrupt(Killed, "self-play", after=1, nth=1))
    stats = folder.path / "stats.jsonl"
    stats.write_bytes(stats.read_bytes()[:-20])
    train(RunFolder(folder.path), ignore)
    check_equal(folder.path)


def test_measuring_precisions_does_not_change_the_bits(
    folder: RunFolder, check_equal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyTorch disables oneDNN where bfloat16 fails; that must not outlast the measurement."""

    def fail_at_bfloat16(*arguments: object, precision: str) -> float:
        if precision == "bfloat16":
            torch._C._set_mkldnn_enabled(False)
        return 1.0

    monkeypatch.setattr("rookery.learning.precision._seconds", fail_at_bfloat16)
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", True)
    folder.change(apply(folder.config, ["learning.precision=auto"]))
    train(folder, ignore)
    assert torch.backends.mkldnn.enabled
    check_equal(folder.path)


@pytest.fixture
def copy(finished: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy of the finished run that no longer measures its strength."""
    folder = RunFolder(Path(shutil.copytree(finished.path, tmp_path / "copy")))
    folder.change(apply(folder.config, ["run.strength_every=0"]))
    return folder


def chosen_backends(run: Path) -> tuple[str, dict[str, float], str]:
    """Return inference backend, measured rates and precision of the last session."""
    line = [line for line in Stats(run).lines() if line["kind"] == "resumed"][-1]
    return line["inference"]["backend"], line["inference"]["rates"], line["precision"]


def test_a_resumed_run_does_not_measure_backends_again(copy: RunFolder) -> None:
    copy.change(apply(copy.config, ["run.inference=auto", "learning.precision=auto"]))
    train(copy, ignore)
    assert chosen_backends(copy.path) == ("float32", {}, "float32")


def test_backends_of_another_device_are_measured_again(copy: RunFolder) -> None:
    copy.change(apply(copy.config, ["run.inference=auto", "learning.precision=auto"]))
    found = Checkpoint.load(copy.path)
    assert found is not None
    elsewhere = replace(found.position, inference="fused-float16", precision="bfloat16")
    replace(found, position=elsewhere).save(copy.path)
    train(copy, ignore)
    backend, rates, precision = chosen_backends(copy.path)
    assert backend in rates and precision in ("float32", "bfloat16")


@pytest.mark.parametrize(
    ("asked", "device", "before", "after"),
    [
        ("auto", "cuda", "int8", "auto"),
        ("auto", "cuda", "float16", "float16"),
        ("auto", "cpu", "int8", "auto"),
        ("fastest", "cuda", "int8", "fastest"),
        ("fastest", "cpu", "float16", "float16"),
        ("fastest", "cpu", "int8", "int8" if is_int8_supported() else "fastest"),
    ],
)
def test_int8_is_not_kept_unless_it_is_asked_for(
    copy: RunFolder, asked: str, device: str, before: str, after: str
) -> None:
    found = Checkpoint.load(copy.path)
    assert found is not None
    position = replace(found.position, inference=before)
    config = apply(copy.config, [f"run.inference={asked}"])
    _, inference = _as_before(config, position, torch.device(device))
    assert inference == after


def test_a_resumed_run_keeps_as_much_time_for_measuring_as_the_longest_measurement_took(
    copy: RunFolder,
) -> None:
    for iteration, kind, took in ((1, "strength", 5.0), (1, "elo", 3.0), (2, "strength", 2.0)):
        Stats(copy.path).append(kind, iteration, took=took)
    Stats(copy.path).append("elo", 2)
    run = Run(copy, ignore, device=torch.device("cpu"), iteration=2, seconds=60.0)
    evaluator = CpuEvaluator(copy.load_weights().build(), copy.game.planes_shape)
    LocalMeter(run, copy.game, evaluator, lambda net: evaluator)
    assert run.reserve == pytest.approx(8.8)
    run.close()


def test_a_resumed_run_uses_the_backend_that_is_asked_for(copy: RunFolder) -> None:
    copy.change(apply(copy.config, ["run.inference=float16", "learning.precision=bfloat16"]))
    train(copy, ignore)
    assert chosen_backends(copy.path) == ("float16", {}, "bfloat16")


def test_a_run_that_lost_its_checkpoint_does_not_start_from_scratch(copy: RunFolder) -> None:
    train(copy, ignore)
    (copy.path / "checkpoint.safetensors").unlink()
    before = (copy.path / "stats.jsonl").read_bytes()
    with pytest.raises(RunFolderError, match="has lost its checkpoint; restore it"):
        train(copy, ignore)
    assert (copy.path / "stats.jsonl").read_bytes() == before


def test_a_copy_without_empty_folders_can_be_resumed(copy: RunFolder) -> None:
    shutil.rmtree(copy.path / "weights")
    train(copy, ignore)
    assert copy.count_weights() > 0


def test_games_in_progress_on_another_device_are_refused(copy: RunFolder) -> None:
    found = Checkpoint.load(copy.path)
    assert found is not None
    replace(found, position=replace(found.position, selfplay="cuda")).save(copy.path)
    with pytest.raises(RunFolderError, match=r"trained on cuda, .* with --devices cuda:0"):
        train(copy, ignore)
