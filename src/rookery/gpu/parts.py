"""Work in parts, which become smaller when a GPU has no memory left."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar
from weakref import WeakSet

import torch

T = TypeVar("T")
_log = logging.getLogger(__name__)
_all_parts: "WeakSet[Parts]" = WeakSet()
_collected: list[list[str]] = []
"""Notes that are collected instead of printed; the last list takes them."""


class Parts:
    """Divides work among parts of at most `largest` items, and no fewer than `smallest`."""

    def __init__(
        self,
        what: str,
        largest: int,
        *,
        smallest: int = 1,
        on_smaller: Callable[[str], None] | None = None,
        release: Callable[[], bool] = lambda: False,
    ) -> None:
        """`what` names the items in the note on parts that become smaller.

        The note is printed, or given to `on_smaller`, which may raise to refuse. `release` frees
        what is kept from one call to the next, because others have no memory left; it returns
        whether there was anything.
        """
        self._what, self._smallest = what, smallest
        self._on_smaller = on_smaller or _tell
        self._release = release
        self.largest = largest
        _all_parts.add(self)

    def each(self, count: int, work: Callable[[slice], T]) -> list[T]:
        """Return what `work` returns for consecutive slices of `count` items."""
        results: list[T] = []
        start = 0
        while start < count:
            part = slice(start, min(start + self.largest, count))
            try:
                results.append(work(part))
            except torch.OutOfMemoryError:
                if not self._free_others() and part.stop - start <= self._smallest:
                    raise
            else:
                start = part.stop
                continue
            self._shrink(part.stop - start)  # here the error no longer holds what did fit
        return results

    def _free_others(self) -> bool:
        """Free what others keep; return whether there was anything."""
        return any([parts._release() for parts in _all_parts if parts is not self])

    def _shrink(self, size: int) -> None:
        torch.cuda.empty_cache()
        if size <= self._smallest:
            return
        self.largest = max(self._smallest, size // 2)
        found = f"{size} {self._what} do not fit into the GPU's memory"
        self._on_smaller(f"{found}; continuing with {self.largest} at a time")


@contextmanager
def collected_notes() -> Iterator[list[str]]:
    """Collect notes that would be printed."""
    notes: list[str] = []
    _collected.append(notes)
    try:
        yield notes
    finally:
        _collected.pop()


def _tell(note: str) -> None:
    if _collected:
        _collected[-1].append(note)
    else:
        _log.warning("note: %s", note)
