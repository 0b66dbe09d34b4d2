"""Files that appear whole or not at all, and that notice when they were altered.

A checked file is its payload followed by 40 bytes: a magic word and the payload's SHA-256.
"""

import errno
import hashlib
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base.errors import DiskFull, FileDamaged

_MAGIC = b"rookery1"
_TRAILER = len(_MAGIC) + 32


def fingerprint(payload: bytes) -> str:
    """A short name for the content of `payload`."""
    return hashlib.sha256(payload).hexdigest()[:16]


def write_atomic(path: Path, payload: bytes) -> None:
    """Write `payload` so that readers see the old file or the whole new one."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        with open(draft, "wb") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"no room left to write {path}; free some space and resume") from error
        raise


def write_checked(path: Path, payload: bytes) -> None:
    """Write `payload` with a checksum, atomically."""
    write_atomic(path, payload + _MAGIC + hashlib.sha256(payload).digest())


def read_checked(path: Path) -> bytes:
    """The payload of a file written by `write_checked`, or FileDamaged."""
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise FileDamaged(f"{path} is missing; restore it or start a new run") from error
    payload, trailer = content[:-_TRAILER], content[-_TRAILER:]
    if trailer[: len(_MAGIC)] != _MAGIC:
        raise FileDamaged(f"{path} is truncated or not a Rookery file; restore it from a copy")
    if trailer[len(_MAGIC) :] != hashlib.sha256(payload).digest():
        raise FileDamaged(f"{path} was altered (its checksum differs); restore it from a copy")
    return payload


def pack_arrays(arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> bytes:
    """Named arrays and a JSON header as bytes; nothing in them can run code."""
    buffer = io.BytesIO()
    text = json.dumps({"names": list(arrays), "header": dict(header)}).encode()
    buffer.write(len(text).to_bytes(8, "little") + text)
    for array in arrays.values():
        np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def unpack_arrays(payload: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and the header that `pack_arrays` was given."""
    buffer = io.BytesIO(payload)
    table = json.loads(buffer.read(int.from_bytes(buffer.read(8), "little")))
    arrays = {name: np.lib.format.read_array(buffer, allow_pickle=False) for name in table["names"]}
    return arrays, table["header"]


def write_arrays(
    path: Path, arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any] | None = None
) -> None:
    """Write named arrays and a JSON header into one checked file."""
    write_checked(path, pack_arrays(arrays, header or {}))


def read_arrays(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and the header of a file written by `write_arrays`."""
    return unpack_arrays(read_checked(path))
