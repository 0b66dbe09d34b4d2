"""Kept checkpoints: the last ones and named ones stay whole, and a run continues from any."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from rookery.arena import MatchTest
from rookery.base import (
    ConfigError,
    DiskFull,
    FileDamaged,
    RookeryError,
    RunFolderError,
    link_or_copy,
)
from rookery.replay import shard_path
from rookery.training import Parent, RunFolder, Stats, apply, find_checkpoints, keep_named, train
from rookery.training.store import kept
from rookery.training.store.checkpoint import NAME, Checkpoint
from rookery.training.store.kept import drop_older, find_checkpoint, keep_older

Trace = Callable[[Path], Any]
pytestmark = pytest.mark.usefixtures("quick_strength")
NO_NAMES = (
    *("", ".", "..", "a/b", "../x", "/x", ".x", "-x", "12", "x" * 65, "x\n", "a b", "a\0b"),
    *("\x1b[1m", "\u0661", "\udcff"),
)


class Killed(BaseException):
    """Ends a run as a killed process would."""


def ignore(progress: object) -> None:
    """Let the run go on."""


def refuse(*_: object) -> None:
    """Fail as os.link does where there are no hard links."""
    raise OSError(errno.EPERM, "Operation not permitted")


def content(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder by relative path."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def check_whole(folder: Path, iteration: int) -> None:
    """Check that a checkpoint can be loaded and has the shards that it needs."""
    found = Checkpoint.load(folder)
    assert found is not None and found.position.iteration == iteration
    shards = {shard_path(folder / "replay", number) for number in found.position.shards}
    assert shards <= set((folder / "replay").iterdir())


@pytest.fixture(scope="module")
def keeping(finished: RunFolder, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """The finished run once more, with its last three checkpoints; read-only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "rookery.training.measuring.strength_test_for", lambda game: MatchTest(game, games=2)
        )
        config = apply(finished.config, ["run.keep_checkpoints=3"])
        folder = RunFolder.create(tmp_path_factory.mktemp("runs") / "keeping", config)
        train(folder, ignore)
    return folder


@pytest.fixture
def own(keeping: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy of it, to be changed or damaged."""
    return RunFolder(Path(shutil.copytree(keeping.path, tmp_path / "own")))


def advance(run: Path, iteration: int, *, shards: tuple[int, ...] | None = None) -> None:
    """Replace the checkpoint by one of another iteration, as training does."""
    found = Checkpoint.load(run)
    assert found is not None
    position = replace(found.position, iteration=iteration, shards=shards or found.position.shards)
    replace(found, position=position).save(run)


def test_keeping_checkpoints_changes_nothing_else(
    keeping: RunFolder, finished: RunFolder, trace: Trace
) -> None:
    expected, found = trace(finished.path), trace(keeping.path)
    for field in fields(expected):
        assert getattr(found, field.name) == getattr(expected, field.name), field.name
    assert not (finished.path / "checkpoints").exists()


def test_the_last_checkpoints_stay_with_the_shards_they_need(keeping: RunFolder) -> None:
    found = find_checkpoints(keeping.path)
    assert list(found) == ["2", "4", "6"] and found["6"] == keeping.path
    for iteration in (2, 4, 6):
        check_whole(found[str(iteration)], iteration)
    older, newest = (set(os.listdir(found[at] / "replay")) for at in ("2", "6"))
    assert len(older) == len(Checkpoint.read_position(found["2"]).shards), "and no others"
    assert older - newest, "the run itself has deleted some"


@pytest.mark.parametrize("at", ["2", "0004", "best"])
def test_a_continued_run_makes_the_same_iterations(
    own: RunFolder, finished: RunFolder, trace: Trace, at: str
) -> None:
    shutil.copytree(own.path / "checkpoints/000004", own.path / "checkpoints/best")
    before = content(own.path)
    new = own.continue_in(own.path.with_name("new"), own.config, at=at)
    iteration = 2 if at == "2" else 4
    assert new.parent == Parent(str(own.path), iteration)
    assert max(line["iteration"] for line in Stats(new.path).lines()) == iteration
    assert new.load_weights().header == own.load_weights(iteration).header
    train(new, ignore)
    expected, found = trace(finished.path), trace(new.path)
    stats = [line for line in found.stats if json.loads(line)["kind"] != "note"]
    for field in fields(expected):
        value = stats if field.name == "stats" else getattr(found, field.name)
        assert value == getattr(expected, field.name), field.name
    assert content(own.path) == before, "the old run is untouched"
    assert RunFolder(new.path).parent == new.parent
    assert f"continues {own.path} from iteration {iteration}" in "".join(found.stats)


def test_the_newest_checkpoint_can_be_continued_with_other_settings(own: RunFolder) -> None:
    config = apply(own.config, ["run.iterations=7", "learning.learning_rate=1e-4"])
    new = own.continue_in(own.path.with_name("new"), config, at="6")
    train(new, ignore)
    assert Checkpoint.iteration(new.path) == 7
    assert RunFolder(new.path).config == config and RunFolder(own.path).config == own.config


@pytest.mark.parametrize(
    ("at", "settings", "found"),
    [
        ("3", [], "has no checkpoint of iteration 3; it has 2, 4, 6"),
        ("9" * 5000, [], "has no checkpoint of iteration 9"),
        ("", [], "named ''; it has 2, 4, 6"),
        ("../../own", [], "has no checkpoint named '../../own'; it has"),
        ("\x1b[31m", [], "has no checkpoint named"),
        ("6", [], "the settings end the run at iteration 6"),
        ("2", ["net.width=16"], "net settings cannot change"),
    ],
)
def test_what_cannot_be_continued_creates_nothing(
    own: RunFolder, at: str, settings: list[str], found: str
) -> None:
    new = own.path.with_name("new")
    with pytest.raises(RookeryError, match=found.replace("[", r"\[").replace(".", r"\.")):
        own.continue_in(new, apply(own.config, settings), at=at)
    assert not new.exists()


@pytest.mark.parametrize(
    "damage", ["checkpoint cut", "checkpoint missing", "shard cut", "shard missing"]
)
def test_a_damaged_older_checkpoint_is_refused(own: RunFolder, damage: str) -> None:
    folder = own.path / "checkpoints/000002"
    shard = min((folder / "replay").iterdir())
    path = folder / NAME if damage.startswith("checkpoint") else shard
    raw = path.read_bytes()
    path.unlink()
    if damage.endswith("cut"):
        path.write_bytes(raw[:-1])
    with pytest.raises(FileDamaged, match=str(path)):
        own.continue_in(own.path.with_name("new"), own.config, at="2")
    assert not own.path.with_name("new").exists()


def test_an_existing_folder_is_not_touched(own: RunFolder, keeping: RunFolder) -> None:
    with pytest.raises(RunFolderError, match="exists already"):
        own.continue_in(keeping.path, own.config, at="2")


@pytest.mark.parametrize("nth", [1, 2, 5])
def test_a_full_disk_leaves_nothing_behind(
    own: RunFolder, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    """No room for the nth file, on a file system without hard links."""
    left = [nth]

    def full(*_: object) -> None:
        left[0] -= 1
        if left[0] <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(os, "fsync", full)
    before = content(own.path.parent)
    with pytest.raises(DiskFull, match="no room left to create"):
        own.continue_in(own.path.with_name("new"), own.config, at="2")
    with pytest.raises(DiskFull, match="no room left to write"):
        keep_named(own.path, "best")
    assert content(own.path.parent) == before
    assert sorted(os.listdir(own.path / "checkpoints")) == ["000002", "000004"]


def test_a_named_checkpoint_outlives_the_shards_of_its_run(own: RunFolder) -> None:
    assert keep_named(own.path, "best").iteration == 6
    shutil.rmtree(own.path / "replay")
    (own.path / NAME).unlink()
    drop_older(own.path, newest=10**6, kept=0)
    assert list(find_checkpoints(own.path)) == ["best"]
    check_whole(own.path / "checkpoints/best", 6)


def test_a_name_is_given_once(own: RunFolder) -> None:
    keep_named(own.path, "best")
    before = content(own.path)
    with pytest.raises(RunFolderError, match="has a checkpoint best already"):
        keep_named(own.path, "best")
    assert content(own.path) == before


@pytest.mark.parametrize("name", NO_NAMES)
def test_a_name_that_is_none_is_refused(own: RunFolder, name: str) -> None:
    before = content(own.path.parent)
    with pytest.raises(ConfigError, match="cannot name a checkpoint"):
        keep_named(own.path, name)
    assert content(own.path.parent) == before


def test_a_run_without_or_with_a_damaged_checkpoint_keeps_none(own: RunFolder) -> None:
    (own.path / NAME).write_bytes((own.path / NAME).read_bytes()[:-1])
    with pytest.raises(FileDamaged, match=f"{own.path / NAME} is truncated"):
        keep_named(own.path, "best")
    assert list(find_checkpoints(own.path)) == ["2", "4", "6"]
    (own.path / NAME).unlink()
    with pytest.raises(RunFolderError, match="has no checkpoint yet"):
        keep_named(own.path, "best")
    assert list(find_checkpoints(own.path)) == ["2", "4"]


def test_files_are_copied_where_there_are_no_hard_links(
    own: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", refuse)
    keep_named(own.path, "best")
    check_whole(own.path / "checkpoints/best", 6)
    assert (own.path / "checkpoints/best" / NAME).stat().st_nlink == 1


@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_checkpoint_that_training_replaces_meanwhile_is_kept_whole(
    own: RunFolder, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    """The run writes the next checkpoint and deletes a shard before the nth file is linked."""
    found, link, left = Checkpoint.load(own.path), link_or_copy, [nth]
    assert found is not None and len(found.position.shards) > 1
    first, *others = found.position.shards

    def link_late(source: Path, target: Path) -> None:
        left[0] -= 1
        if left[0] == 0:
            advance(own.path, 8, shards=tuple(others))
            shard_path(own.path / "replay", first).unlink()
        link(source, target)

    monkeypatch.setattr(kept, "link_or_copy", link_late)
    keep_named(own.path, "best")
    position = Checkpoint.read_position(own.path / "checkpoints/best")
    check_whole(own.path / "checkpoints/best", position.iteration)
    assert position.iteration == (8 if nth < 3 else 6)


def test_a_lost_shard_is_an_error_and_no_endless_loop(own: RunFolder) -> None:
    lost = min((own.path / "replay").iterdir())
    lost.unlink()
    with pytest.raises(FileDamaged, match=f"{lost} is missing"):
        keep_named(own.path, "best")
    assert sorted(os.listdir(own.path / "checkpoints")) == ["000002", "000004"]


@pytest.mark.parametrize(
    ("function", "kept_at"), [("os.rename", 2), ("os.replace", 2), ("run.drop_older", 4)]
)
def test_a_kill_between_two_steps_loses_no_checkpoint(
    finished: RunFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    function: str,
    kept_at: int,
) -> None:
    """Kill it at a step of the checkpoint of iteration 4; in the end the same ones are there."""
    config = apply(finished.config, ["run.keep_checkpoints=2", "run.strength_every=0"])
    folder = RunFolder.create(tmp_path / "run", config)
    originals: dict[str, Any] = {"os.rename": os.rename, "os.replace": os.replace}
    original = originals.get(function, drop_older)

    def kill(*arguments: Any, **options: Any) -> None:
        is_checkpoint = function != "os.replace" or Path(arguments[1]) == folder.path / NAME
        if is_checkpoint and Checkpoint.iteration(folder.path) == kept_at:
            raise Killed
        original(*arguments, **options)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(function.replace("run.", "rookery.training.run."), kill)
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)
        train(folder, ignore)
    assert Checkpoint.iteration(folder.path) == kept_at
    for name, path in find_checkpoints(folder.path).items():
        check_whole(path, int(name))
    train(RunFolder(folder.path), ignore)
    assert list(find_checkpoints(folder.path)) == ["4", "6"]
    assert os.listdir(folder.path / "checkpoints") == ["000004"], "no drafts are left"


def test_fewer_checkpoints_are_kept_from_the_next_one_on(own: RunFolder) -> None:
    keep_named(own.path, "best")
    own.change(apply(own.config, ["run.keep_checkpoints=1", "run.iterations=7"]))
    train(own, ignore)
    assert list(find_checkpoints(own.path)) == ["7", "best"]


def test_a_checkpoint_that_cannot_be_kept_does_not_end_the_run(own: RunFolder) -> None:
    own.change(apply(own.config, ["run.iterations=7"]))

    lost: list[Path] = []

    def lose_a_shard(progress: object) -> None:
        if not lost:
            lost.append(min((own.path / "replay").iterdir()))
            lost[0].unlink()

    train(own, lose_a_shard)
    notes = [line["note"] for line in Stats(own.path).lines() if line["kind"] == "note"]
    assert "the checkpoint before iteration 7 is not kept" in notes[0]
    assert list(find_checkpoints(own.path)) == ["2", "4", "7"]


def test_a_checkpoint_of_another_past_is_replaced(own: RunFolder) -> None:
    """A run that went back to iteration 2 writes iteration 4 once more."""
    old = (own.path / "checkpoints/000004" / NAME).read_bytes()
    advance(own.path, 4)
    keep_older(own.path, newest=6)
    assert (own.path / "checkpoints/000004" / NAME).read_bytes() != old
    check_whole(find_checkpoint(own.path, "4"), 4)
