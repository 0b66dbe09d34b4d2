"""Tiny runs of Tic-Tac-Toe on one thread, which other processes in these tests use as well."""

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
from thread_workers import ThreadWorker

TINY = [
    "run.iterations=6",
    "run.moves=5",
    "run.checkpoint_every=2",
    "run.strength_every=0",
    "run.strength_simulations=2",
    "run.elo_games=0",
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
TIMES = ("seconds", "took", "rows_per_second")
EVENTS = ("started", "resumed")


@dataclass(frozen=True)
class Trace:
    """Everything a run leaves behind, except times and the number of sessions."""

    weights: bytes
    """The newest weights file."""
    position: dict[str, Any]
    arrays: dict[str, bytes]
    """Arrays of the learner and of self-play in the checkpoint."""
    shards: dict[str, bytes]
    stats: list[str]


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Compute on one thread: networks this small lose time when they share work."""
    before = torch.get_num_threads(), numba.get_num_threads()
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    yield
    torch.set_num_threads(before[0])
    numba.set_num_threads(before[1])


@pytest.fixture
def in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run workers in threads of this process."""
    for module in ("actors.pool", "evaluation.pool", "trainers.placement"):
        monkeypatch.setattr(f"rookery.training.{module}.ProcessWorker", ThreadWorker)


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """Environment of other processes: they import this Rookery and compute the same bits."""
    source = str(Path(rookery.__file__).parents[1])
    threads = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    return {**os.environ, "PYTHONPATH": source, **threads}


@pytest.fixture(scope="session")
def tiny() -> list[str]:
    """Settings that shorten a run to a second or two."""
    return list(TINY)


@pytest.fixture(scope="session")
def tiny_config() -> Config:
    """The settings of a tiny run of Tic-Tac-Toe."""
    return apply(recipe_for("tictactoe"), TINY)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, tiny_config: Config) -> RunFolder:
    """A finished run that was never stopped and measured its strength; read-only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rookery.training.measuring.strength_test_for", short_test)
        config = apply(tiny_config, ["run.strength_every=4"])
        folder = RunFolder.create(tmp_path_factory.mktemp("runs") / "finished", config)
        train(folder, lambda progress: None)
    return folder


@pytest.fixture
def quick_strength(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure strength in two games: the test of all positions takes seconds."""
    monkeypatch.setattr("rookery.training.measuring.strength_test_for", short_test)


def short_test(game: Any) -> MatchTest:
    """Return a real strength test of two games."""
    return MatchTest(game, games=2)


@pytest.fixture(scope="session")
def trace() -> Callable[[Path], Trace]:
    """Return a function that reads what a run has left behind."""
    return read_trace


def read_trace(run: Path) -> Trace:
    """Return what the run in a folder has left behind."""
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
    """Return the shape, type and bytes of an array."""
    return f"{array.dtype} {array.shape} ".encode() + array.tobytes()


def without_times(value: Any) -> Any:
    """Return a line of the statistics without times."""
    if isinstance(value, dict):
        return {name: without_times(v) for name, v in value.items() if name not in TIMES}
    return value
