"""Files of compiled code that several processes may write at the same time.

Numba keeps one index per function, from the types of its arguments to numbered files of code. Two
processes that compile a function for two games at the same time give both the same number: the
index of one then leads to the code of the other. Here the name of a file follows from the types, so
that two processes write the same file only with the same code. The index may still lose an entry,
whose code is compiled again.
"""

import hashlib
from typing import Any

from numba.core.caching import IndexDataCacheFile
from numba.core.serialize import dumps


class KernelFiles(IndexDataCacheFile):  # type: ignore[misc]  # Numba has no types
    """The cached code of one function."""

    def save(self, key: Any, data: Any) -> None:
        """Save code under its key: the types of the arguments and what the function closes over."""
        name = self._data_name(int(hashlib.sha256(dumps(key)).hexdigest()[:16], 16))
        overloads = self._load_index()
        if overloads.get(key) != name:
            self._save_index({**overloads, key: name})
        self._save_data(name, data)


def use_kernel_files(function: Any) -> None:
    """Have a function that Numba compiles and caches use these files; others stay as they are."""
    cache: Any = getattr(function, "_cache", None)
    if isinstance(found := getattr(cache, "_cache_file", None), IndexDataCacheFile):
        base = found._index_name.removesuffix(".nbi")
        cache._cache_file = KernelFiles(found._cache_path, base, found._source_stamp)
