"""Files of compiled code that several processes may write at the same time.

Numba keeps one index per function, from the types of its arguments to numbered files of code. Two
processes that compile a function for two games at the same time give both the same number: the
index of one then leads to the code of the other. Here the name of a file follows from the types, so
that two processes write the same file only with the same code. The index may still lose an entry,
whose code is compiled again.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import numba


@cache
def kernel_files(kind: Any) -> Any:
    """Return a class of files like `kind`, of Numba or numba-cuda, with names of their own."""

    class KernelFiles(kind):  # type: ignore[misc]  # Numba has no types
        """The cached code of one function."""

        def save(self, key: Any, data: Any) -> None:
            """Save code under its key: the argument types and what the function closes over."""
            name = self._data_name(int(hashlib.sha256(self._dump(key)).hexdigest()[:16], 16))
            overloads = self._load_index()
            if overloads.get(key) != name:
                self._save_index({**overloads, key: name})
            self._save_data(name, data)

    return KernelFiles


def use_kernel_files(function: Any) -> None:
    """Have a function that Numba compiles and caches use these files; others stay as they are."""
    own: Any = getattr(function, "_cache", None)
    if (found := getattr(own, "_cache_file", None)) is not None:
        base = found._index_name.removesuffix(".nbi")
        kind: Any = type(found)
        own._cache_file = kernel_files(kind)(found._cache_path, base, found._source_stamp)


def completion_mark(*facts: object) -> Path:
    """Return a file that exists if all kernels of a run with these facts are in the cache."""
    digest = hashlib.sha256(repr((numba.__version__, *facts)).encode()).hexdigest()[:16]
    return Path(numba.config.CACHE_DIR) / f"complete-{digest}"
