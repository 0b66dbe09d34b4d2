"""What a run folder says of itself: read without executing anything."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from rookery.base import FileDamaged, RunFolderError
from rookery.training.config import Config, from_json
from rookery.training.store.origin import Origin

FORMAT = 2
"""1: arrays in files of our own format; 2: safetensors files."""


@dataclass(frozen=True)
class Identity:
    """The content of run.json."""

    game: str
    version: int
    """Of the game's rules."""
    origin: Origin | None
    """Where its first weights come from; None if it began from nothing."""
    rules: str
    """SHA-256 of the rules file it was trained with; empty for a shipped game."""


def read_identity(run: Path) -> Identity:
    """Read the run.json of a run folder, or RunFolderError."""
    if not run.is_dir():
        raise RunFolderError(f"{run} is not a run folder; start one with rookery train")
    try:
        plain = json.loads(_read(run, "run.json"))
        version = int(plain["format"])
        origin = Origin(**plain["origin"]) if "origin" in plain else None
        found = Identity(plain["game"], plain["version"], origin, plain.get("rules", ""))
        assert isinstance(found.game, str) and isinstance(found.rules, str)
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError) as error:
        raise FileDamaged(f"{run / 'run.json'} is damaged; restore it") from error
    if version > FORMAT:
        raise RunFolderError(
            f"{run} was written by a newer Rookery (format {version}, this one reads {FORMAT}); "
            "upgrade Rookery"
        )
    if version < FORMAT:
        raise RunFolderError(
            f"{run} was written by an older Rookery (format {version}, this one reads {FORMAT}); "
            "start a new run with --init and one of its weights/*.safetensors"
        )
    return found


def read_config(run: Path) -> Config:
    """Read the settings of a run folder, or RunFolderError."""
    return from_json(_read(run, "config.json"))


def _read(run: Path, name: str) -> str:
    if not os.path.exists(run / name):
        raise RunFolderError(
            f"{run} is not a whole run folder ({name} is missing); choose another one"
        )
    try:
        return (run / name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FileDamaged(f"{run / name} is damaged; restore it from a copy") from error
