"""Files with a valid checksum and wrong content, as somebody could build them."""

import json
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from rookery.base.files import check_digest, sign, unpack_arrays, unsigned

Arrays = dict[str, NDArray[Any]]
Change = Callable[[Arrays, dict[str, Any]], object]
"""Changes the arrays and the header of a file in place."""
NESTED = "[" * 100_000


def signed(arrays: Mapping[str, NDArray[Any]], header: object) -> bytes:
    """Return a file of these arrays and this header, which may be text, with its checksum."""
    text = header if isinstance(header, str) else json.dumps(header)
    return sign(safetensors.numpy.save(dict(arrays), {"rookery": text}))


def recrafted(payload: bytes, change: Change) -> bytes:
    """Return a file with other content, and with the checksum of that."""
    header = check_digest(payload, "a file")
    arrays = {name: np.array(array) for name, array in unpack_arrays(payload)[0].items()}
    change(arrays, header)
    return signed(arrays, unsigned(header))


def recraft(path: Path, change: Change) -> None:
    """Change the content of a file, and its checksum with it."""
    path.write_bytes(recrafted(path.read_bytes(), change))


@contextmanager
def at_most_allocated(limit: int) -> Iterator[None]:
    """Check that Python and NumPy hold at most `limit` more bytes at any time within."""
    tracemalloc.start()
    try:
        yield
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < limit, f"{peak} bytes"
