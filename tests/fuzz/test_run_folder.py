"""Every file of a run folder, damaged or crafted: one clear line, or the content as it was."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzing import cases, changed_json, mutated, only_clear_errors
from rookery.base import RookeryError, read_arrays
from rookery.base.files import sign
from rookery.interface.run_history import read_history
from rookery.replay import read_shard
from rookery.training import RunFolder, Stats, apply, recipe_for, train
from rookery.training.store.checkpoint import Checkpoint

TINY = [
    *("run.iterations=2", "run.moves=9", "run.checkpoint_every=1", "run.strength_every=0"),
    *("run.inference=float32", "net.width=8", "net.depth=1", "selfplay.games=16"),
    *("selfplay.simulations=2", "replay.window_min=100", "learning.batch_size=32"),
    *("learning.precision=float32", "run.minutes=0"),
]
RUN: list[Path] = []


@pytest.fixture(scope="module", autouse=True)
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A finished run, and a copy of it that each case damages and repairs."""
    path = tmp_path_factory.mktemp("fuzz") / "run"
    train(RunFolder.create(path, apply(recipe_for("tictactoe"), TINY)), lambda progress: None)
    RUN[:] = [path, Path(shutil.copytree(path, path.with_name("damaged")))]
    yield
    RUN.clear()


def files() -> list[str]:
    found = sorted(path.relative_to(RUN[0]).as_posix() for path in RUN[0].rglob("*.*"))
    return [name for name in found if (RUN[0] / name).stat().st_size]


def read_all(path: Path) -> None:
    """Read everything that commands read; each part may be refused."""
    readers = (
        lambda: RunFolder(path).load_weights().build(),
        lambda: Checkpoint.load(path),
        lambda: list(Stats(path).lines()),
        lambda: read_history(path),
        lambda: [read_shard(each, game=RunFolder(path).game) for each in shards(path)],
    )
    for read in readers:
        with only_clear_errors():
            read()


def shards(path: Path) -> list[Path]:
    return sorted((path / "replay").glob("*.safetensors"))


def check(name: str, content: bytes) -> None:
    """Put `content` in place of a file, read the run, and repair it."""
    whole, damaged = (path / name for path in RUN)
    damaged.write_bytes(content)
    try:
        read_all(RUN[1])
    finally:
        shutil.copyfile(whole, damaged)


@cases(0.1)
@given(st.data())
def test_a_damaged_file_is_refused_or_read(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(files()))
    check(name, data.draw(mutated((RUN[0] / name).read_bytes())))


def opened(name: str) -> tuple[Any, str, Any, bytes]:
    """Return the table of a file, the name of our entry, the entry without digest, the body."""
    payload = (RUN[0] / name).read_bytes()
    length = int.from_bytes(payload[:8], "little")
    table, body = json.loads(payload[8 : 8 + length]), payload[8 + length :]
    ((entry, text),) = table["__metadata__"].items()
    header = json.loads(text)
    return table, entry, {**header, "sha256": "0" * 64}, body


def signed(table: Any, entry: str, header: Any, body: bytes) -> bytes:
    """Put a file together again, with the digest of its new content."""
    if isinstance(table, dict) and isinstance(table.get("__metadata__"), dict):
        table["__metadata__"][entry] = json.dumps(header)
    text = json.dumps(table).encode()
    return sign(len(text).to_bytes(8, "little") + text + body)


def signed_files() -> list[str]:
    return [name for name in files() if name.endswith(".safetensors")]


@cases(0.05)
@given(st.data())
def test_a_signed_file_with_other_content_is_refused_or_read(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(signed_files()))
    table, entry, header, body = opened(name)
    if data.draw(st.booleans()):
        header = data.draw(changed_json(header))
    else:
        table = data.draw(changed_json(table))
    check(name, signed(table, entry, header, body))


def test_a_file_that_is_signed_again_is_accepted() -> None:
    for name in signed_files():
        path = RUN[1] / name
        path.write_bytes(signed(*opened(name)))
        read_arrays(path)
        shutil.copyfile(RUN[0] / name, path)


def test_an_undamaged_run_is_read() -> None:
    folder = RunFolder(RUN[1])
    assert folder.load_weights() and Checkpoint.load(RUN[1]) and shards(RUN[1])
    with pytest.raises(RookeryError):
        RunFolder(RUN[1] / "nothing")
