"""The one way to compile: Numba, cached on disk, in a folder named by a digest of the kernels.

Numba's own cache sees edits of the decorated file only; a kernel that calls a function of
another file would keep the old one, silently. Hence the digest. It also never caches a
function that closes over another compiled function. Kernels for one game therefore close over
a *module* of functions (`namespace`), which Numba caches by the module's name.
"""

import ast
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
DECORATORS = ("compiled", "parallel", "kernel", "intrinsic")


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
        text = path.read_text(encoding="utf-8")
        if "@" in text and any(f"@{name}" in text for name in DECORATORS):
            name = path.relative_to(PACKAGE).as_posix()
            digest.update(f"{name}\0{kernel_source(text)}\0".encode())
    return digest.hexdigest()[:16]


def kernel_source(text: str) -> str:
    """Return what compiled code depends on in a module: its kernels, constants and imports.

    A kernel inside another function counts with the whole of that function. Comments, docstrings,
    classes with methods and plain functions do not count.
    """
    parts = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and not any(map(_is_kernel, ast.walk(node))):
            continue
        if isinstance(node, ast.ClassDef) and any(
            isinstance(n, ast.FunctionDef) for n in node.body
        ):
            continue
        parts.append(ast.dump(_without_docstrings(node)))
    return "\n".join(parts)


def _is_kernel(node: ast.AST) -> bool:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return any(isinstance(each, ast.Name) and each.id in DECORATORS for each in decorators)


def _without_docstrings(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not _is_text(each)]  # type: ignore[attr-defined]
    return tree


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(home) / "rookery" / _source_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="rookery-"))
    return folder


numba.config.CACHE_DIR = str(_cache_folder())
