"""Files appear whole or not at all, and notice when they were altered."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from rookery.base import (
    DiskFull,
    FileDamaged,
    fingerprint,
    pack_arrays,
    read_arrays,
    unpack_arrays,
    write_arrays,
    write_atomic,
)

RECORDS = np.zeros(3, [("mover", np.uint16), ("waiter", np.uint16)])
ARRAYS: dict[str, NDArray[Any]] = {
    "reversed": np.arange(6, dtype=np.float32).reshape(2, 3)[::-1],
    "scalar": np.array(7, np.int64),
    "empty": np.zeros((0, 4), np.int16),
    "flags": np.array([True, False]),
    "words": np.array([2**64 - 1], np.uint64),
}
HEADER = {"game": "tictactoe", "step": 3, "nested": {"zeros": "0" * 70}}


def assert_equal_arrays(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert set(found) == set(expected)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape, name
        assert np.array_equal(found[name], array), name


def test_arrays_and_header_are_read_back(tmp_path: Path) -> None:
    write_arrays(tmp_path / "file", ARRAYS, HEADER)
    found, header = read_arrays(tmp_path / "file")
    assert header == HEADER
    assert_equal_arrays(found, ARRAYS)
    assert os.listdir(tmp_path) == ["file"]


def test_messages_are_read_back() -> None:
    found, header = unpack_arrays(pack_arrays(ARRAYS, HEADER))
    assert header == HEADER
    assert_equal_arrays(found, ARRAYS)


def test_records_are_kept_as_bytes(tmp_path: Path) -> None:
    RECORDS["mover"] = 1, 2, 513
    write_arrays(tmp_path / "file", {"states": RECORDS[::-1]})
    found = read_arrays(tmp_path / "file")[0]["states"]
    assert found.tolist() == [[1, 2, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0]]
    assert np.array_equal(found.view(RECORDS.dtype)[:, 0], RECORDS[::-1])


def test_other_tools_can_open_the_file(tmp_path: Path) -> None:
    write_arrays(tmp_path / "file", ARRAYS, HEADER)
    assert_equal_arrays(safetensors.numpy.load_file(tmp_path / "file"), ARRAYS)
    with safetensors.safe_open(tmp_path / "file", "np") as file:
        assert json.loads(file.metadata()["rookery"])["game"] == "tictactoe"


def test_objects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SafetensorError, match="object"):
        write_arrays(tmp_path / "file", {"objects": np.array([{}], dtype=object)})
    assert not os.listdir(tmp_path)


def test_every_truncated_file_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_arrays(path, ARRAYS, HEADER)
    content = path.read_bytes()
    for kept in range(len(content)):
        path.write_bytes(content[:kept])
        with pytest.raises(FileDamaged, match="truncated"):
            read_arrays(path)


def test_every_altered_byte_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_arrays(path, ARRAYS, HEADER)
    content = path.read_bytes()
    for place in range(len(content)):
        for bit in (1, 0x20, 0x80):
            altered = bytearray(content)
            altered[place] ^= bit
            path.write_bytes(altered)
            with pytest.raises(FileDamaged, match="altered"):
                read_arrays(path)


def test_bytes_behind_the_end_are_damage(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_arrays(path, ARRAYS, HEADER)
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(FileDamaged, match="altered"):
        read_arrays(path)


@pytest.mark.parametrize("header", ["[]", "null", "3", '"text"', "not JSON", "[" * 100_000])
def test_files_of_other_tools_are_refused(tmp_path: Path, header: str) -> None:
    path = tmp_path / "file"
    safetensors.numpy.save_file({"a": np.zeros(3)}, path, {"rookery": header})
    with pytest.raises(FileDamaged, match="not a Rookery file"):
        read_arrays(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileDamaged, match=r"nowhere is missing"):
        read_arrays(tmp_path / "nowhere")


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
