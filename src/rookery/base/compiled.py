"""Compilation by Numba, cached on disk in a folder named by a digest of all kernels.

Numba's own cache only detects edits of the file that defines a kernel: a kernel that calls a
function of another file would silently keep the old one. Hence the digest. Numba also does not
cache a function that closes over another compiled function. Kernels for one game therefore close
over a *module* of functions (`namespace`), which Numba caches by the module's name. The cache of a
function refers to its module by name, too, but is found by the path of its file: a rules file that
is imported under two names needs two caches.

Numba makes the symbols of functions from their names and from numbers, which start at 0 in every
process. Code that two processes compiled for two games, or two search methods, could have the same
symbols; in a process that loads both, one would call the functions of the other. Hence the numbers
start at random.
"""

import ast
import hashlib
import os
import re
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.bytecode import FunctionIdentity

from rookery.base.kernel_cache import use_kernel_files

Function = TypeVar("Function", bound=Callable[..., Any])
Index = int | np.int64
"""An integer in compiled code: 64 bits wide in kernels, any int when interpreted."""
Number = float | np.float32
"""A floating-point number in compiled code."""

TESTED_NUMBA = "0.68."
"""Versions with which functions are compiled apart for kernels."""
PACKAGE = Path(__file__).parent.parent
DECORATORS = ("compiled", "parallel", "kernel", "intrinsic")
_IMPORT = re.compile(r"^from rookery\S* import (\([^)]*\)|.*)", re.MULTILINE)
_ASSIGNMENT = re.compile(r"^([A-Z][A-Z0-9_]*(?:, [A-Z][A-Z0-9_]*)*)(?::[^=]+)? = ", re.MULTILINE)
_NAMED_TUPLE = re.compile(r"^class (\w+)\(NamedTuple\)", re.MULTILINE)


def compiled(function: Function) -> Function:
    """Compile a scalar function, except under `interpreted` or NUMBA_DISABLE_JIT."""
    return _cached(numba.njit(cache=True, nogil=True, error_model="numpy"), function)


def parallel(function: Function) -> Function:
    """Compile a function whose `numba.prange` loops run on all threads."""
    jit = numba.njit(cache=True, nogil=True, error_model="numpy", parallel=True)
    return _cached(jit, function)


def _cached(jit: Callable[[Function], Any], function: Function) -> Function:
    with _cache_of(function.__module__):
        found = jit(function)
    _compile_apart_for_kernels(found)
    use_kernel_files(found)
    return cast(Function, found)


def _compile_apart_for_kernels(function: Any) -> None:
    """Have kernels that call this function compile it for themselves, if Numba is a tested version.

    This uses parts of Numba that may change or move with its versions.
    """
    if numba.__version__.startswith(TESTED_NUMBA):
        from rookery.base.inner_kernels import compile_apart

        compile_apart(function)


@contextmanager
def _cache_of(module: str) -> Iterator[None]:
    """Cache the functions of a module outside of this package in a folder of its name."""
    folder = numba.config.CACHE_DIR
    if module.partition(".")[0] != PACKAGE.name:
        numba.config.CACHE_DIR = os.path.join(folder, "modules", module)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = folder


@contextmanager
def interpreted() -> Iterator[None]:
    """Leave functions defined in this context uncompiled, so that a debugger can enter them."""
    before = numba.config.DISABLE_JIT
    numba.config.DISABLE_JIT = True
    try:
        yield
    finally:
        numba.config.DISABLE_JIT = before


def namespace(
    name: str, functions: Mapping[str, Any] | Sequence[Any], sources: bytes = b""
) -> ModuleType:
    """Return a module of `functions`, by name or with their own names, for kernels to close over.

    sources: their source code, if the digest of the package does not cover it.
    """
    if not isinstance(functions, Mapping):
        functions = {function.__name__: function for function in functions}
    digest = hashlib.sha256(sources).hexdigest()[:12]
    module = ModuleType(f"rookery.compiled.{name}.{digest}")
    vars(module).update(functions)
    sys.modules[module.__name__] = module
    return module


def source_digest(package: Path) -> str:
    """Return a digest of all kernels below `package` and of the constants that they use."""
    paths = sorted(package.rglob("*.py"))
    texts = {path.relative_to(package).as_posix(): path.read_text("utf-8") for path in paths}
    kernels = [text for text in texts.values() if any(f"@{name}" in text for name in DECORATORS)]
    used = {name for text in kernels for line in _IMPORT.findall(text) for name in _words(line)}
    digest = hashlib.sha256()
    for name, text in texts.items():
        constants = {name for line in _ASSIGNMENT.findall(text) for name in _words(line)}
        if text in kernels or used.intersection(constants.union(_NAMED_TUPLE.findall(text))):
            digest.update(f"{name}\0{kernel_source(text)}\0".encode())
    return digest.hexdigest()[:16]


def _words(line: str) -> list[str]:
    return re.findall(r"\w+", line)


def kernel_source(text: str) -> str:
    """Return what compiled code depends on in a module: its kernels, constants and imports.

    A kernel inside another function includes the whole of that function. Comments, docstrings,
    classes with methods and plain functions are ignored.
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
            node.body = [each for each in body if not _is_docstring(each)]  # type: ignore[attr-defined]
    return tree


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    cache = Path(home) / "rookery"
    try:
        folder = cache / remembered_digest(PACKAGE, cache / "digests")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # a read-only home
        folder = Path(tempfile.mkdtemp(prefix="rookery-"))
    return folder


def remembered_digest(package: Path, folder: Path) -> str:
    """Return `source_digest`, from a file in `folder` if no source was touched since."""
    found = ((path, path.stat()) for path in sorted(package.rglob("*.py")))
    stamps = "".join(f"{path}\0{stat.st_mtime_ns}\0{stat.st_size}\0" for path, stat in found)
    remembered = folder / hashlib.sha256(os.fsencode(stamps)).hexdigest()[:16]
    try:
        digest = remembered.read_text("ascii")
    except (OSError, ValueError):
        digest = ""
    if not re.fullmatch("[0-9a-f]{16}", digest):
        digest = source_digest(package)
        folder.mkdir(parents=True, exist_ok=True)
        remembered.write_text(digest, "ascii")
    return digest


numba.config.CACHE_DIR = str(_cache_folder())


def _number_functions() -> None:
    """Number the functions that this process compiles as no other process does."""
    FunctionIdentity._unique_ids = count(secrets.randbits(60))


_number_functions()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_number_functions)
