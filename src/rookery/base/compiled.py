"""The one way to compile: Numba, cached on disk, in a folder named by a digest of the sources.

Numba's own cache sees edits of the decorated file only; a kernel that calls a function of
another file would keep the old one, silently. Hence the digest. It also never caches a
function that closes over another compiled function. Kernels for one game therefore close over
a *module* of functions (`namespace`), which Numba caches by the module's name.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])
Index = int | np.int64
"""A whole number in compiled code: plain when interpreted by a test, 64 bits wide in kernels."""
Number = float | np.float32
"""A real number in compiled code."""

PACKAGE = Path(__file__).parent.parent


def compiled(function: Function) -> Function:
    """Compile a scalar function; it stays plain Python under `interpreted` or NUMBA_DISABLE_JIT."""
    return cast(Function, numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def parallel(function: Function) -> Function:
    """Compile a function whose `numba.prange` loops run on all threads."""
    jit = numba.njit(cache=True, nogil=True, error_model="numpy", parallel=True)
    return cast(Function, jit(function))


@contextmanager
def interpreted() -> Iterator[None]:
    """Functions defined inside are left uncompiled, so that a debugger can enter them."""
    before = numba.config.DISABLE_JIT
    numba.config.DISABLE_JIT = True
    try:
        yield
    finally:
        numba.config.DISABLE_JIT = before


def namespace(name: str, functions: dict[str, Any], sources: bytes = b"") -> ModuleType:
    """A module made of `functions`: what a kernel may close over and still be cached.

    `sources` is the text they come from, where the digest of the package does not cover it.
    """
    digest = hashlib.sha256(sources).hexdigest()[:12]
    module = ModuleType(f"rookery.compiled.{name}.{digest}")
    vars(module).update(functions)
    sys.modules[module.__name__] = module
    return module


def _source_digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_bytes()
        if b"compiled" in text or b"@kernel" in text:
            digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + text)
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(home) / "rookery" / _source_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="rookery-"))
    return folder


numba.config.CACHE_DIR = str(_cache_folder())
