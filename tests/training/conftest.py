"""Tiny runs of Tic-Tac-Toe, on one thread: as many as another process uses in these tests."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
import torch

import rookery
from rookery.arena import MatchTest
from rookery.training import Config, RunFolder, Stats, apply, recipe_for, train
from rookery.training.store.checkpoint import Checkpoint

TINY = [
    "run.iterations=6",
    "run.moves=5",
    "run.checkpoint_every=2",
    "run.strength_every=0",
    "run.strength_simulations=2",
    "run.inference=float32",
    "net.width=8",
    "net.depth=1",
    "selfplay.games=16",
    "selfplay.simulations=2, 3@0.5",
    "replay.window_min=150",
    "replay.window_growth=0.2",
    "learning.batch_size=64",
    "learning.reuse=3",
    "learning.warmup_updates=5",
    "learning.precision=float32",
]
TIMES = ("seconds", "rows_per_second")
EVENTS = ("started", "resumed")


@dataclass(frozen=True)
class Trace:
    """All that a run leaves behind, but for times and the number of stretches it took."""

    weights: bytes
    """The last net that plays, as it lies on the disk."""
    position: dict[str, Any]
    arrays: dict[str, bytes]
    """The learner's and the games' arrays in the checkpoint."""
    shards: dict[str, bytes]
    stats: list[str]


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Nets this small lose more by sharing work than they win."""
    before = torch.get_num_threads(), numba.get_num_threads()
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    yield
    torch.set_num_threads(before[0])
    numba.set_num_threads(before[1])


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """The variables under which another process finds this Rookery and computes the same bits."""
    source = str(Path(rookery.__file__).parents[1])
    threads = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    return {**os.environ, "PYTHONPATH": source, **threads}


@pytest.fixture(scope="session")
def tiny() -> list[str]:
    """The settings that shrink a run to a second or two."""
    return list(TINY)


@pytest.fixture(scope="session")
def tiny_config() -> Config:
    """A run of Tic-Tac-Toe with those settings."""
    return apply(recipe_for("tictactoe"), TINY)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, tiny_config: Config) -> RunFolder:
    """A finished run, never stopped, with measurements of strength; only to be read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rookery.training.ring.strength_test_for", brief_ruler)
        config = apply(tiny_config, ["run.strength_every=4"])
        folder = RunFolder.create(tmp_path_factory.mktemp("runs") / "finished", config)
        train(folder, lambda moment: None)
    return folder


@pytest.fixture
def quick_strength(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strength is measured in a few games: every position of Tic-Tac-Toe takes seconds."""
    monkeypatch.setattr("rookery.training.ring.strength_test_for", brief_ruler)


def brief_ruler(game: Any) -> MatchTest:
    """A real ruler, but a short one."""
    return MatchTest(game, games=2)


@pytest.fixture(scope="session")
def trace() -> Callable[[Path], Trace]:
    """Reads what a run has left behind."""
    return read_trace


def read_trace(run: Path) -> Trace:
    """What the run in a folder has left behind."""
    found = Checkpoint.load(run)
    assert found is not None
    parts = (found.learner, found.selfplay)
    arrays = {f"{i}/{name}": exact(a) for i, part in enumerate(parts) for name, a in part.items()}
    lines = [line for line in Stats(run).lines() if line["kind"] not in EVENTS]
    return Trace(
        weights=sorted((run / "weights").glob("*.safetensors"))[-1].read_bytes(),
        position={**vars(found.position), "seconds": None},
        arrays=arrays,
        shards={path.name: path.read_bytes() for path in sorted((run / "replay").iterdir())},
        stats=[json.dumps(without_times(line)) for line in lines],
    )


def exact(array: np.ndarray) -> bytes:
    """An array with its shape and type, bit for bit."""
    return f"{array.dtype} {array.shape} ".encode() + array.tobytes()


def without_times(value: Any) -> Any:
    """A line of the statistics without what the clock decides."""
    if isinstance(value, dict):
        return {name: without_times(v) for name, v in value.items() if name not in TIMES}
    return value
