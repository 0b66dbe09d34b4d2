"""Files appear whole or not at all, and notice when they were altered."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rookery.base import (
    DiskFull,
    FileDamaged,
    fingerprint,
    read_arrays,
    read_checked,
    write_arrays,
    write_atomic,
    write_checked,
)

PAYLOAD = bytes(range(256)) * 4


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    write_checked(tmp_path / "file", PAYLOAD)
    assert read_checked(tmp_path / "file") == PAYLOAD
    assert os.listdir(tmp_path) == ["file"]


def test_arrays_and_header_are_read_back(tmp_path: Path) -> None:
    records = np.zeros(3, [("mover", np.uint16), ("waiter", np.uint16)])
    records["mover"] = 1, 2, 3
    arrays = {"states": records, "values": np.eye(3, dtype=np.float32)[::-1]}
    write_arrays(tmp_path / "file", arrays, {"game": "tictactoe"})
    back, header = read_arrays(tmp_path / "file")
    assert header == {"game": "tictactoe"}
    assert list(back) == ["states", "values"]
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype and np.array_equal(back[name], array)


def test_objects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="allow_pickle"):
        write_arrays(tmp_path / "file", {"objects": np.array([{}], dtype=object)})


@pytest.mark.parametrize("kept", [0, 1, 39, 40, 500, 1063])
def test_a_truncated_file_is_damaged(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "file"
    write_checked(path, PAYLOAD)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(FileDamaged, match="truncated"):
        read_checked(path)


@pytest.mark.parametrize("place", [0, 511, 1023, 1040, 1063])
def test_an_altered_file_is_damaged(tmp_path: Path, place: int) -> None:
    path = tmp_path / "file"
    write_checked(path, PAYLOAD)
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(FileDamaged, match="altered"):
        read_checked(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileDamaged, match=r"nowhere is missing"):
        read_checked(tmp_path / "nowhere")


def test_a_full_disk_keeps_the_old_file_and_leaves_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "file"
    write_atomic(path, b"old")
    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(DiskFull, match="no room left"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_write_that_fails_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    """The system itself stops the write at a limit of 4096 bytes."""
    path = tmp_path / "file"
    write_atomic(path, b"old")
    script = (
        "import resource, sys, pathlib; from rookery.base import write_atomic;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "write_atomic(pathlib.Path(sys.argv[1]), bytes(100_000))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, path], capture_output=True, env=child_env()
    )
    assert done.returncode != 0 and b"OSError" in done.stderr
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def child_env() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_fingerprints_tell_contents_apart() -> None:
    assert fingerprint(b"a") == fingerprint(b"a") != fingerprint(b"b")
