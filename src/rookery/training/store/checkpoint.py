"""All that a stopped run needs to go on as if it had never stopped, in one checked file."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import FileDamaged, RunFolderError, read_arrays, write_arrays

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class RunPosition:
    """Where a run stands between two iterations."""

    iteration: int
    seconds: float
    """Time spent so far, all stretches added."""
    rows_made: int
    shards: tuple[int, ...]
    """Replay shards in the window."""
    inference: str
    precision: str
    """How nets are evaluated and trained: a resumed run does not measure again."""


@dataclass(frozen=True)
class Checkpoint:
    """A run's position with the states of its learner and its games."""

    position: RunPosition
    learner: Arrays
    selfplay: Arrays

    def save(self, folder: Path) -> None:
        """Replace the checkpoint in `folder`."""
        parts = {"learner": self.learner, "selfplay": self.selfplay}
        arrays = {f"{part}/{name}": a for part in parts for name, a in parts[part].items()}
        write_arrays(folder / "checkpoint", arrays, asdict(self.position))

    @classmethod
    def load(cls, folder: Path) -> "Checkpoint | None":
        """The checkpoint in `folder`; None before the first."""
        path = folder / "checkpoint"
        if not path.exists():
            return None
        arrays, header = read_arrays(path)
        try:
            position = RunPosition(**{**header, "shards": tuple(header["shards"])})
        except (TypeError, KeyError) as error:
            raise FileDamaged(f"{path} is not a checkpoint; restore it from a copy") from error
        return cls(position, _part(arrays, "learner/"), _part(arrays, "selfplay/"))


def _part(arrays: Arrays, prefix: str) -> dict[str, NDArray[Any]]:
    part = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
    if not part:
        raise RunFolderError(f"the checkpoint has no {prefix} part; restore it from a copy")
    return part


def copied(arrays: Arrays) -> dict[str, NDArray[Any]]:
    """The same arrays, no longer tied to what is being trained."""
    return {name: np.array(array) for name, array in arrays.items()}
