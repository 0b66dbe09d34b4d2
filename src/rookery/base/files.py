"""Files that appear whole or not at all, and that notice when they were altered.

Arrays are kept in safetensors files, which any tool opens and which cannot run code. The metadata
has one entry, `rookery`, a JSON text with a header and the file's SHA-256. The latter is taken over
the whole file, with zeros where it stands itself, so that no changed byte goes unnoticed.
"""

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from rookery.base.errors import ConfigError, DiskFull, FileDamaged

_ENTRY = "rookery"
_DIGEST = "sha256"
_BLANK = "0" * 64
_MAX_HEADER = 100_000_000
"""Bytes of a header that safetensors accepts."""
MALFORMED = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
    OverflowError,  # a whole number is expected, and infinity is found
)
"""What reading JSON of another form than expected may raise."""
_NUMBERED = re.compile(r"([0-9]{6}|[1-9][0-9]{6,11})\.safetensors")


def fingerprint(payload: bytes) -> str:
    """A short name for the content of `payload`."""
    return hashlib.sha256(payload).hexdigest()[:16]


def check_new_files(*paths: Path | None) -> None:
    """Raise ConfigError if a file exists, since none is overwritten, or cannot be written."""
    new = [path for path in paths if path is not None]
    if len({os.path.realpath(path) for path in new}) < len(new):
        raise ConfigError(f"{new[0]} is given for two files; choose another name for one")
    for path in new:
        if os.path.lexists(path):
            raise ConfigError(f"{path} exists already and is not overwritten; choose another name")
        if not path.parent.is_dir():
            raise ConfigError(f"there is no folder {path.parent}; create it or choose another")
        if not os.access(path.parent, os.W_OK):
            raise ConfigError(f"{path.parent} is not writable; choose another folder")


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


def link_or_copy(source: Path, target: Path) -> None:
    """Make `target` a hard link to a safetensors file, or a copy where that is impossible."""
    try:
        os.link(source, target)
    except OSError:
        write_atomic(target, read_file(source))


def pack_arrays(arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> bytes:
    """Return named arrays and a JSON header as a safetensors file; records become bytes."""
    # ascontiguousarray would turn scalars into [1]
    columns = {name: plain(np.asarray(array, order="C")) for name, array in arrays.items()}
    return safetensors.numpy.save(columns, {_ENTRY: json.dumps(dict(header))})


def unpack_arrays(
    payload: bytes, source: str = "the message"
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays and the header that `pack_arrays` was given."""
    header = read_header(payload, source)
    try:
        return safetensors.numpy.load(payload), header
    except (SafetensorError, *MALFORMED) as error:
        raise damaged(source) from error


def read_header(payload: bytes, source: str) -> dict[str, Any]:
    """Return the header of a safetensors file of ours, or FileDamaged."""
    length = int.from_bytes(payload[:8], "little")
    try:
        table = json.loads(payload[8 : 8 + length])
        header = json.loads(table["__metadata__"][_ENTRY])
        return dict(header)
    except MALFORMED as error:
        raise damaged(source) from error


def unsigned(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return a header with room for the digest that `sign` fills in."""
    return {_DIGEST: _BLANK, **header}  # in front: `sign` fills the first blank


def sign(draft: bytes) -> bytes:
    """Fill the digest into a file whose header is `unsigned`."""
    return draft.replace(_BLANK.encode(), hashlib.sha256(draft).hexdigest().encode(), 1)


def check_digest(payload: bytes, source: str) -> dict[str, Any]:
    """Return the header of a signed file, or FileDamaged if a byte of the file has changed."""
    header = read_header(payload, source)
    digest = str(header.pop(_DIGEST, "")).encode(errors="replace")
    blanked = payload.replace(digest, _BLANK.encode(), 1) if len(digest) == len(_BLANK) else b""
    if hashlib.sha256(blanked).hexdigest().encode() != digest:
        raise damaged(source)
    return header


def write_arrays(
    path: Path, arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any] | None = None
) -> None:
    """Write named arrays and a JSON header into one signed safetensors file."""
    write_atomic(path, sign(pack_arrays(arrays, unsigned(header or {}))))


def read_arrays(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays and the header of a file written by `write_arrays`, or FileDamaged."""
    payload = read_file(path)
    header = check_digest(payload, str(path))
    return unpack_arrays(payload, str(path))[0], header


def read_file(path: Path) -> bytes:
    """Return the content of a safetensors file, or FileDamaged if it is missing or cut."""
    try:
        with open_file(path) as file:
            if _declared_size(file) != os.fstat(file.fileno()).st_size:
                raise damaged(str(path))
            file.seek(0)
            return file.read()
    except FileNotFoundError as error:
        raise FileDamaged(f"{path} is missing; restore it or start a new run") from error


def open_file(path: Path, mode: str = "rb") -> IO[bytes]:
    """Open a regular file, or raise FileDamaged: anything else could block for ever."""
    file: IO[bytes] = open(path, mode, opener=_open_at_once)  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise FileDamaged(f"{path} is not a regular file; restore it from a copy")
    return file


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting, as a pipe would for its other end."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)


def peek_header(path: Path) -> dict[str, Any]:
    """Return the header of a file of ours without checking the rest, or FileDamaged."""
    with open_file(path) as file:
        start = file.read(8)
        length = min(int.from_bytes(start, "little"), _MAX_HEADER)
        header = read_header(start + file.read(length), str(path))
    header.pop(_DIGEST, None)
    return header


def numbered_files(folder: Path) -> dict[int, Path]:
    """Return the files of a folder that are named NUMBER.safetensors, in order of the number.

    A missing folder has none. Files with other names are ignored.
    """
    try:
        names = [match for match in map(_NUMBERED.fullmatch, os.listdir(folder)) if match]
    except FileNotFoundError:
        return {}
    return {int(name[1]): folder / name[0] for name in sorted(names, key=lambda each: int(each[1]))}


def _declared_size(file: IO[bytes]) -> int:
    """Return the size of a safetensors file as its header tells it; -1 if it has none."""
    length = int.from_bytes(file.read(8), "little")
    if length > _MAX_HEADER:
        return -1
    try:
        table = json.loads(file.read(length))
        ends = [entry["data_offsets"][1] for name, entry in table.items() if name != "__metadata__"]
        return 8 + length + int(max(ends, default=0))
    except (*MALFORMED, OverflowError):
        return -1


def damaged(source: str, why: str = "") -> FileDamaged:
    """Return the error for a file that is not as it was written."""
    found = f"damaged: {why}" if why else "truncated, altered or not a Rookery file"
    return FileDamaged(f"{source} is {found}; restore it from a copy")


def plain(array: Any) -> Any:
    """Return a contiguous array, of NumPy or a kernel, with records as bytes [..., size]."""
    if not array.dtype.names:
        return array
    flat = array.reshape(array.size).view(np.dtype(np.uint8))
    return flat.reshape(*array.shape, array.dtype.itemsize)
