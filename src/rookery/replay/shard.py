"""A shard: the samples of one iteration in one write-once, checked file, `000012.shard`."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import FileDamaged, RunFolderError, read_arrays, write_arrays
from rookery.games import Game
from rookery.replay.samples import Samples

COLUMNS = [field.name for field in fields(Samples)]


def shard_path(folder: Path, number: int) -> Path:
    """Where shard `number` lives in `folder`."""
    return folder / f"{number:06}.shard"


def to_columns(samples: Samples) -> dict[str, NDArray[Any]]:
    """The samples as plain arrays, fit for files and messages."""
    columns = {name: getattr(samples, name) for name in COLUMNS}
    return columns | {"states": _to_bytes(samples.states)}


def from_columns(columns: Mapping[str, NDArray[Any]], *, game: Game) -> Samples:
    """The samples of `game` that `to_columns` was given."""
    return Samples(**{**columns, "states": _from_bytes(columns["states"], game)})


def write_shard(path: Path, samples: Samples, *, game: Game) -> None:
    """Write `samples` of `game`; the file appears whole or not at all."""
    header = {"kind": "shard", "game": game.name, "version": game.version}
    write_arrays(path, to_columns(samples), header)


def read_shard(path: Path, *, game: Game) -> Samples:
    """The samples of a shard of `game`, or FileDamaged, or RunFolderError for another game's."""
    columns, header = read_arrays(path)
    if header.get("kind") != "shard" or sorted(columns) != sorted(COLUMNS):
        raise FileDamaged(f"{path} is no shard; restore it from a copy")
    found = f"{header['game']} version {header['version']}"
    if found != f"{game.name} version {game.version}":
        raise RunFolderError(
            f"{path} holds {found}, expected {game.name} version {game.version}; "
            "resume with the game the run was started with, or start a new run"
        )
    return from_columns(columns, game=game)


def _to_bytes(states: NDArray[Any]) -> NDArray[np.uint8]:
    """[R, bytes of a state]: a record dtype does not survive the file format unchanged."""
    raw = np.ascontiguousarray(states).view(np.uint8)
    return raw.reshape(len(states), states.dtype.itemsize)


def _from_bytes(raw: NDArray[np.uint8], game: Game) -> NDArray[Any]:
    dtype = game.blank_states(0).dtype
    if raw.shape[1] != dtype.itemsize:
        raise RunFolderError(
            f"a {game.name} state has {dtype.itemsize} bytes, the shard's have {raw.shape[1]}; "
            "the rules changed without a new version: raise VERSION and start a new run"
        )
    return raw.reshape(-1).view(dtype)
