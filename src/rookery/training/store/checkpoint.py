"""Everything a stopped run needs to continue as if it had never stopped, in one file."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import FileDamaged, RookeryError, peek_header, read_arrays, write_arrays

Arrays = Mapping[str, NDArray[Any]]
NAME = "checkpoint.safetensors"


@dataclass(frozen=True)
class RunPosition:
    """How far a run has come between two iterations."""

    iteration: int
    seconds: float
    """Time spent so far, all sessions added."""
    rows_made: int
    rows_owed: float
    """Rows that are still to be learned from."""
    shards: tuple[int, ...]
    """Replay shards in the window."""
    selfplay: str
    """Where the games in progress were played: cpu, cuda or actors."""
    inference: str
    precision: str
    """How networks are evaluated and trained: a resumed run does not measure this again."""


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

    @classmethod
    def load(cls, folder: Path) -> "Checkpoint | None":
        """Return the checkpoint in `folder`, None before the first one."""
        path = folder / NAME
        if not os.path.lexists(path):
            return None
        arrays, header = read_arrays(path)
        try:
            position = RunPosition(**{**header, "shards": tuple(header["shards"])})
        except (TypeError, KeyError) as error:
            raise FileDamaged(f"{path} is not a checkpoint; restore it from a copy") from error
        return cls(position, _part(arrays, "learner/"), _part(arrays, "selfplay/"))


def _part(arrays: Arrays, prefix: str) -> dict[str, NDArray[Any]]:
    names = [name for name in arrays if name.startswith(prefix)]
    if not names:
        raise FileDamaged(f"the checkpoint has no {prefix} part; restore it from a copy")
    return {name.removeprefix(prefix): arrays[name] for name in names}
