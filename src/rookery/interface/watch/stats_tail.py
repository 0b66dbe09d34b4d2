"""The statistics of a run as they are written: what has come since the last look.

A run only appends, but one that stops or resumes drops the lines that it will make again, and puts
a new file in the place of the old one. So a look first makes sure that what was read before is
still there: the same file, not shorter, with the same bytes before the place read up to.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

TAIL_BYTES = 256
"""Read again at every look, to see that they are still the same."""
NEVER = 0.0
"""The time of what has not happened."""

Line = dict[str, Any]


@dataclass(frozen=True)
class News:
    """What a look has found."""

    lines: list[Line]
    is_afresh: bool
    """Whether the file is new or was rewritten: these lines are all there are."""


class StatsTail:
    """Reads the statistics in `folder`, every whole line once."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "stats.jsonl"
        self.changed_at = NEVER
        """When the file was last written, in seconds since the epoch."""
        self._forget()

    def read(self) -> News:
        """The lines that have come since the last call; half a line is left until it is whole."""
        try:
            with open(self._path, "rb") as file:
                is_afresh = not self._goes_on(file)
                if is_afresh:
                    self._forget()
                return News(list(self._read(file)), is_afresh)
        except FileNotFoundError:
            self._forget()
            self.changed_at = NEVER
            return News([], is_afresh=True)

    def _forget(self) -> None:
        self._inode, self._offset, self._tail = -1, 0, b""

    def _goes_on(self, file: IO[bytes]) -> bool:
        """Whether all that was read from the file is still in it."""
        found = os.fstat(file.fileno())
        if found.st_ino != self._inode or found.st_size < self._offset:
            return False
        file.seek(self._offset - len(self._tail))
        return file.read(len(self._tail)) == self._tail

    def _read(self, file: IO[bytes]) -> Iterator[Line]:
        file.seek(self._offset)
        text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        found = os.fstat(file.fileno())
        self._inode, self.changed_at = found.st_ino, found.st_mtime
        self._offset += len(whole)
        self._tail = (self._tail + whole)[-TAIL_BYTES:]
        for line in whole.splitlines():
            try:
                known = json.loads(line)
            except ValueError:  # cut short by a crash, and written behind
                continue
            if isinstance(known, dict) and {"kind", "iteration"} <= known.keys():
                yield known
