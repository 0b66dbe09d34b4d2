"""The reader of a run's statistics: all lines, or those appended since the last call.

A run only appends to `stats.jsonl`, but when it stops or resumes it drops the lines of iterations
that it will repeat, and replaces the file. So each call first checks that the part already read is
unchanged: the same file, not shorter, with the same bytes before the offset.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from rookery.base import open_file
from rookery.training import parse_line

TAIL_BYTES = 256
"""Bytes before the offset that each call compares."""
NEVER = 0.0
"""The time of an event that has not happened."""

Line = dict[str, Any]


class StatsTail:
    """Reads the statistics in `folder`, every complete line once."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "stats.jsonl"
        self.damaged = 0
        """Damaged lines read so far, which were skipped."""
        self.changed_at = NEVER
        """When the file was last changed, in seconds since the epoch."""
        self._reset()

    def read(self) -> tuple[list[Line], bool]:
        """Return the lines appended since the last call, without an incomplete last one.

        If the file is new or was rewritten, return all of its lines, and True.
        """
        try:
            with open_file(self.path) as file:
                is_restart = not self._is_unchanged(file)
                if is_restart:
                    self._reset()
                return list(self._read(file)), is_restart
        except FileNotFoundError:
            self._reset()
            self.changed_at = NEVER
            return [], True

    def _reset(self) -> None:
        self._inode, self._offset, self._tail = -1, 0, b""
        self.damaged = 0

    def _is_unchanged(self, file: IO[bytes]) -> bool:
        """Whether the file still begins with everything read from it."""
        found = os.fstat(file.fileno())
        if found.st_ino != self._inode or found.st_size < self._offset:
            return False
        file.seek(self._offset - len(self._tail))
        return file.read(len(self._tail)) == self._tail

    def _read(self, file: IO[bytes]) -> Iterator[Line]:
        file.seek(self._offset)
        text = file.read()
        complete = text[: text.rfind(b"\n") + 1]
        found = os.fstat(file.fileno())
        self._inode, self.changed_at = found.st_ino, found.st_mtime
        self._offset += len(complete)
        self._tail = (self._tail + complete)[-TAIL_BYTES:]
        for raw in complete.split(b"\n"):
            if line := parse_line(raw):
                yield line
            elif raw.strip():  # cut short by a crash, then appended to, or damaged
                self.damaged += 1
