"""Work in parts, which become smaller when a GPU has no memory left."""

import logging
from collections.abc import Callable
from typing import TypeVar

import torch

T = TypeVar("T")
_log = logging.getLogger(__name__)


class Parts:
    """Divides work among parts of at most `largest` items, and no fewer than `smallest`."""

    def __init__(
        self,
        what: str,
        largest: int,
        *,
        smallest: int = 1,
        on_smaller: Callable[[str], None] | None = None,
    ) -> None:
        """`what` names the items in the note on parts that become smaller.

        The note is printed, or given to `on_smaller`, which may raise to refuse.
        """
        self._what, self._smallest = what, smallest
        self._on_smaller = on_smaller or _print
        self.largest = largest

    def each(self, count: int, work: Callable[[slice], T]) -> list[T]:
        """Return what `work` returns for consecutive slices of `count` items."""
        results: list[T] = []
        start = 0
        while start < count:
            part = slice(start, min(start + self.largest, count))
            try:
                results.append(work(part))
            except torch.OutOfMemoryError:
                if part.stop - start <= self._smallest:
                    raise
            else:
                start = part.stop
                continue
            self._shrink(part.stop - start)  # here the error no longer holds what did fit
        return results

    def _shrink(self, size: int) -> None:
        self.largest = max(self._smallest, size // 2)
        torch.cuda.empty_cache()
        found = f"{size} {self._what} do not fit into the GPU's memory"
        self._on_smaller(f"{found}; continuing with {self.largest} at a time")


def _print(note: str) -> None:
    _log.warning("note: %s", note)
