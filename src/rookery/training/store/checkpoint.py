"""Everything a stopped run needs to continue as if it had never stopped, in one file."""

import os
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError

from rookery.base import (
    FileDamaged,
    RookeryError,
    damaged,
    peek_header,
    read_arrays,
    write_arrays,
)

Arrays = Mapping[str, NDArray[Any]]
NAME = "checkpoint.safetensors"
Count = Annotated[int, Field(ge=0, lt=2**48)]
Amount = Annotated[float, Field(allow_inf_nan=False)]


@dataclass(frozen=True)
class RunPosition:
    """How far a run has come between two iterations."""

    iteration: Annotated[int, Field(ge=0, lt=2**31)]
    seconds: Amount
    """Time spent so far, all sessions added."""
    rows_made: Count
    rows_owed: Amount
    """Rows that are still to be learned from."""
    shards: tuple[Count, ...]
    """Replay shards in the window."""
    selfplay: Annotated[str, Field(pattern="^(cpu|cuda|actors)$")]
    """Where the games in progress were played: cpu, cuda or actors."""
    inference: str
    precision: str
    """How networks are evaluated and trained: a resumed run does not measure this again."""
    given_shards: Count = 0
    given_rows: Count = 0
    """Given games that were taken into the window."""


@dataclass(frozen=True)
class Checkpoint:
    """A run's position with the states of its learner and its games."""

    position: RunPosition
    learner: Arrays
    selfplay: Arrays

    @classmethod
    def copy(cls, position: RunPosition, learner: Arrays, selfplay: Arrays) -> "Checkpoint":
        """Return a checkpoint whose arrays do not change any more."""
        copies = [{name: np.array(array) for name, array in a.items()} for a in (learner, selfplay)]
        return cls(position, *copies)

    def save(self, folder: Path) -> None:
        """Replace the checkpoint in `folder`."""
        parts = {"learner": self.learner, "selfplay": self.selfplay}
        arrays = {f"{part}/{name}": a for part in parts for name, a in parts[part].items()}
        write_arrays(folder / NAME, arrays, asdict(self.position))

    @staticmethod
    def iteration(folder: Path) -> int:
        """Return the iteration of the checkpoint in `folder`, 0 if none can be read."""
        try:
            return int(peek_header(folder / NAME)["iteration"])
        except (OSError, RookeryError, LookupError, TypeError, ValueError):
            return 0

    @staticmethod
    def read_position(folder: Path) -> RunPosition:
        """Return the position of the checkpoint in `folder` without checking its arrays."""
        path = folder / NAME
        try:
            return _position(peek_header(path), path)
        except FileNotFoundError as error:
            raise FileDamaged(f"{path} is missing; restore it from a copy") from error

    @classmethod
    def load(cls, folder: Path) -> "Checkpoint | None":
        """Return the checkpoint in `folder`, None before the first one."""
        path = folder / NAME
        if not os.path.lexists(path):
            return None
        arrays, header = read_arrays(path)
        position = _position(header, path)
        parts = [_part(arrays, name, source=str(path)) for name in ("learner/", "selfplay/")]
        return cls(position, *parts)


def _position(header: Mapping[str, Any], path: Path) -> RunPosition:
    known = {field.name: field.default is MISSING for field in fields(RunPosition)}
    if header.keys() - known or any(known[name] for name in known.keys() - header.keys()):
        raise FileDamaged(f"{path} is not a checkpoint; restore it from a copy")
    try:
        position = TypeAdapter(RunPosition).validate_python(header)
    except ValidationError as error:
        first = error.errors()[0]
        raise damaged(str(path), f"{first['loc'][0]}: {first['msg']}") from error
    if list(position.shards) != sorted(set(position.shards)):
        raise damaged(str(path), "its shards are not in order")
    return position


def _part(arrays: Arrays, prefix: str, *, source: str) -> dict[str, NDArray[Any]]:
    names = [name for name in arrays if name.startswith(prefix)]
    if not names:
        raise damaged(source, f"it has no {prefix} part")
    return {name.removeprefix(prefix): arrays[name] for name in names}
