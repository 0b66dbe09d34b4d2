"""Kept checkpoints of a run: the last ones by iteration, and named ones that are never deleted.

checkpoints/000120/   checkpoint.safetensors, and replay/ with the shards that it needs
checkpoints/NAME/     the same, kept until the user deletes it

The files are hard links, or copies where the file system has none. The run may thus replace its
checkpoint and delete its shards; no file of a run is changed in place except its statistics.
"""

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

from rookery.base import ConfigError, FileDamaged, RookeryError, RunFolderError, link_or_copy
from rookery.replay import shard_path
from rookery.training.store.checkpoint import NAME, Checkpoint, RunPosition

FOLDER = "checkpoints"
_ITERATION = re.compile(r"[0-9]{6,10}")
_NAME = re.compile(r"(?![0-9]+$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


def find_checkpoints(run: Path) -> dict[str, Path]:
    """Return the folder of every checkpoint by iteration or name; `run` holds the newest."""
    found = {str(iteration): path for iteration, path in _numbered(run).items()}
    with suppress(OSError, RookeryError):  # the newest one may be missing or damaged
        found[str(Checkpoint.read_position(run).iteration)] = run
    return found | {path.name: path for path in _entries(run) if _NAME.fullmatch(path.name)}


def find_checkpoint(run: Path, at: str) -> Path:
    """Return the folder of the checkpoint of an iteration or name, or RunFolderError."""
    found = find_checkpoints(run)
    is_number = at.isascii() and at.isdecimal()
    label = (at.lstrip("0") or "0") if is_number else at
    if label not in found:
        which = f"of iteration {label}" if is_number else f"named {at!r}"
        known = f"it has {', '.join(found)}" if found else "it has none"
        raise RunFolderError(f"{run} has no checkpoint {which}; {known}")
    return found[label]


def keep_named(run: Path, name: str) -> RunPosition:
    """Keep the newest checkpoint of a run, which may be training, under a new name."""
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} cannot name a checkpoint; use up to 64 letters, digits, hyphens, dots and "
            "underscores, not digits alone, with a letter or digit first"
        )
    if os.path.lexists(run / FOLDER / name):
        raise RunFolderError(f"{run} has a checkpoint {name} already; choose another name")
    if Checkpoint.load(run) is None:
        raise RunFolderError(f"{run} has no checkpoint yet; let it train a little longer")
    return _keep(run, name)


def keep_older(run: Path, *, newest: int) -> None:
    """Keep the checkpoint that one of iteration `newest` is about to replace."""
    if os.path.lexists(run / NAME):
        iteration = Checkpoint.read_position(run).iteration
        if iteration != newest:
            _keep(run, f"{iteration:06}")


def drop_older(run: Path, *, newest: int, kept: int) -> None:
    """Delete the checkpoints by iteration before `newest`, except the last `kept`."""
    older = [path for iteration, path in _numbered(run).items() if iteration < newest]
    for path in older[: max(len(older) - kept, 0)]:
        _remove(path)


def copy_checkpoint(source: Path, target: Path) -> RunPosition:
    """Copy a checkpoint with its shards; begin again if a running training replaces it."""
    while True:
        shutil.rmtree(target / "replay", ignore_errors=True)
        (target / "replay").mkdir(parents=True)
        (target / NAME).unlink(missing_ok=True)
        position = Checkpoint.read_position(source)
        try:
            link_or_copy(source / NAME, target / NAME)
            for number in position.shards:
                shard = shard_path(source / "replay", number)
                link_or_copy(shard, target / "replay" / shard.name)
        except FileDamaged:
            if Checkpoint.read_position(source) == position:
                raise
        else:
            if Checkpoint.read_position(target) == position:
                return position


def _keep(run: Path, name: str) -> RunPosition:
    """Keep the newest checkpoint; one of the same iteration, of a run that went back, is lost."""
    path = run / FOLDER / name
    draft = _draft(path)
    try:
        position = copy_checkpoint(run, draft)
        if _ITERATION.fullmatch(name) and os.path.lexists(path):
            _remove(path)
        os.rename(draft, path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return position


def _remove(path: Path) -> None:
    """Delete a checkpoint so that it is there as a whole or not at all."""
    draft = _draft(path).with_suffix(".old.draft")
    os.rename(path, draft)
    shutil.rmtree(draft)


def _draft(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.draft")


def _numbered(run: Path) -> dict[int, Path]:
    found = {int(path.name): path for path in _entries(run) if _ITERATION.fullmatch(path.name)}
    return dict(sorted(found.items()))


def _entries(run: Path) -> list[Path]:
    try:
        return sorted((run / FOLDER).iterdir())
    except FileNotFoundError:
        return []
