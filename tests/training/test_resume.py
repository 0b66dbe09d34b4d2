"""Stopped and resumed equals never stopped, bit for bit, wherever the run was interrupted."""

import os
import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from rookery.training.learners import check_trainers
from rookery.training.ring import Ring

from rookery.base import ConfigError, RunFolderError
from rookery.training import Progress, ProgressCallback, RunFolder, Stats, Stopped, apply, train
from rookery.training.store.checkpoint import Checkpoint

Trace = Callable[[Path], Any]
pytestmark = pytest.mark.usefixtures("quick_strength")


class Killed(BaseException):
    """The process ends here: nothing gets a chance to tidy up."""


def nothing(moment: Progress) -> None:
    """A watcher that lets the run go on."""


def interrupt(error: type[BaseException], phase: str, *, after: int, nth: int) -> ProgressCallback:
    """A watcher that raises in the nth moment of a phase once `after` iterations are done."""
    left = [nth]

    def watch(moment: Progress) -> None:
        if (moment.phase, moment.iteration) == (phase, after):
            left[0] -= 1
            if left[0] == 0:
                raise error

    return watch


def reached(run: Path) -> int:
    """The iteration of the checkpoint; 0 before the first."""
    found = Checkpoint.load(run)
    return found.position.iteration if found else 0


@pytest.fixture
def folder(finished: RunFolder, tmp_path: Path) -> RunFolder:
    """A new run with the settings of the finished one."""
    return RunFolder.create(tmp_path / "run", finished.config)


@pytest.fixture
def check_equal(finished: RunFolder, trace: Trace) -> Callable[[Path], None]:
    """Compares a run with the one that was never stopped."""

    def check(run: Path) -> None:
        expected, found = trace(finished.path), trace(run)
        for field in fields(expected):
            assert getattr(found, field.name) == getattr(expected, field.name), field.name

    return check


def test_the_undisturbed_run_is_worth_comparing(finished: RunFolder, trace: Trace) -> None:
    """It learned, measured its strength twice, and dropped rows from its window."""
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
    train(folder, nothing)
    expected, found = trace(finished.path), trace(folder.path)
    for name in ("weights", "arrays", "shards", "stats"):
        assert getattr(found, name) != getattr(expected, name)


@pytest.mark.parametrize(
    ("phase", "after", "nth", "kept"),
    [
        ("self-play", 0, 3, 0),
        ("self-play", 3, 5, 3),
        ("learning", 3, 3, 3),
        ("strength", 4, 2, 3),
        ("checkpoint", 4, 1, 4),
        ("strength", 6, 2, 6),
    ],
)
def test_a_stopped_run_goes_on_as_if_it_never_had(
    folder: RunFolder, check_equal: Any, phase: str, after: int, nth: int, kept: int
) -> None:
    last = train(folder, interrupt(Stopped, phase, after=after, nth=nth))
    assert (last.phase, last.iteration) == (phase, after), "it was stopped there"
    assert reached(folder.path) == kept
    assert max(line["iteration"] for line in Stats(folder.path).lines()) == kept
    train(RunFolder(folder.path), nothing)
    check_equal(folder.path)


@pytest.mark.parametrize(
    ("phase", "after", "nth", "kept"),
    [
        ("learning", 1, 3, 0),
        ("learning", 3, 3, 2),
        ("strength", 4, 2, 2),
        ("checkpoint", 6, 1, 4),
        ("strength", 6, 2, 6),
    ],
)
def test_a_killed_run_repeats_what_it_lost(
    folder: RunFolder, check_equal: Any, phase: str, after: int, nth: int, kept: int
) -> None:
    with pytest.raises(Killed):
        train(folder, interrupt(Killed, phase, after=after, nth=nth))
    assert reached(folder.path) == kept
    train(RunFolder(folder.path), nothing)
    check_equal(folder.path)


def test_a_run_stopped_in_every_iteration_loses_nothing(
    folder: RunFolder, check_equal: Any
) -> None:
    for after in range(6):
        phase = ("self-play", "learning")[after % 2]
        train(RunFolder(folder.path), interrupt(Stopped, phase, after=after, nth=3))
        assert reached(folder.path) == after
    train(RunFolder(folder.path), nothing)
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
def test_a_run_killed_at_a_write_goes_on(
    folder: RunFolder, check_equal: Any, file: str, is_done: bool, kept: int
) -> None:
    """Killed before or after the draft took the file's place; the checkpoint's second time."""
    replace, left = os.replace, [2 if file == "checkpoint" else 1]

    def fatal(source: Path, target: Path) -> None:
        left[0] -= str(target).startswith(str(folder.path / file))
        if left[0] or is_done:
            replace(source, target)
        if not left[0]:
            raise Killed

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        patch.setattr(os, "replace", fatal)
        train(folder, nothing)
    assert reached(folder.path) == kept
    train(RunFolder(folder.path), nothing)
    check_equal(folder.path)


def test_a_last_line_of_statistics_cut_by_a_crash_is_made_again(
    folder: RunFolder, check_equal: Any
) -> None:
    with pytest.raises(Killed):
        train(folder, interrupt(Killed, "self-play", after=1, nth=1))
    stats = folder.path / "stats.jsonl"
    stats.write_bytes(stats.read_bytes()[:-20])
    train(RunFolder(folder.path), nothing)
    check_equal(folder.path)


def test_measuring_methods_does_not_change_the_bits(
    folder: RunFolder, check_equal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where bfloat16 fails, torch gives up oneDNN: so would a run that is not resumed."""

    def fail_at_bfloat16(*arguments: object, precision: str) -> float:
        if precision == "bfloat16":
            torch.backends.mkldnn.enabled = False
        return 1.0

    monkeypatch.setattr("rookery.learning.precision._seconds", fail_at_bfloat16)
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", True)
    folder.change(apply(folder.config, ["learning.precision=auto"]))
    train(folder, nothing)
    assert torch.backends.mkldnn.enabled
    check_equal(folder.path)


@pytest.fixture
def own(finished: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy of the finished run that measures no strength."""
    folder = RunFolder(Path(shutil.copytree(finished.path, tmp_path / "own")))
    folder.change(apply(folder.config, ["run.strength_every=0"]))
    return folder


def how(run: Path) -> tuple[str, dict[str, float], str]:
    """How the last stretch evaluated and trained its net, and what it measured to choose so."""
    line = [line for line in Stats(run).lines() if line["kind"] == "resumed"][-1]
    return line["inference"]["backend"], line["inference"]["rates"], line["precision"]


def test_a_resumed_run_does_not_measure_methods_again(own: RunFolder) -> None:
    own.change(apply(own.config, ["run.inference=auto", "learning.precision=auto"]))
    train(own, nothing)
    assert how(own.path) == ("float32", {}, "float32")


def test_methods_of_another_device_are_measured_anew(own: RunFolder) -> None:
    own.change(apply(own.config, ["run.inference=auto", "learning.precision=auto"]))
    found = Checkpoint.load(own.path)
    elsewhere = replace(found.position, inference="fused-float16", precision="bfloat16")
    replace(found, position=elsewhere).save(own.path)
    train(own, nothing)
    method, rates, precision = how(own.path)
    assert method in rates and precision in ("float32", "bfloat16")


@pytest.mark.parametrize(("before", "after"), [("int8", "auto"), ("float16", "float16")])
def test_eight_bits_end_when_they_are_asked_for_no_more(
    own: RunFolder, before: str, after: str
) -> None:
    position = replace(Checkpoint.load(own.path).position, inference=before)
    config = apply(own.config, ["run.inference=auto"])
    on_gpu = SimpleNamespace(config=config, device=torch.device("cuda"))
    _, inference = Ring._as_before(cast(Ring, on_gpu), position)
    assert inference == after


def test_a_resumed_run_takes_the_method_that_is_asked_for(own: RunFolder) -> None:
    own.change(apply(own.config, ["run.inference=float16", "learning.precision=bfloat16"]))
    train(own, nothing)
    assert how(own.path) == ("float16", {}, "bfloat16")


def test_a_run_that_lost_its_checkpoint_does_not_begin_anew(own: RunFolder) -> None:
    train(own, nothing)
    (own.path / "checkpoint").unlink()
    before = (own.path / "stats.jsonl").read_bytes()
    with pytest.raises(RunFolderError, match="has lost its checkpoint; restore it"):
        train(own, nothing)
    assert (own.path / "stats.jsonl").read_bytes() == before


def test_a_copy_without_empty_folders_goes_on(own: RunFolder) -> None:
    shutil.rmtree(own.path / "weights")
    train(own, nothing)
    assert own.count_weights() > 0


def test_a_spiking_net_is_not_cut(own: RunFolder) -> None:
    config = apply(own.config, ["learning.method=pipeline", "net.kind=spiking"])
    with pytest.raises(ConfigError, match="cannot cut a spiking net"):
        check_trainers(config, [torch.device("cpu")])
