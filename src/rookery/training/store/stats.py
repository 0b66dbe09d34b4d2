"""The statistics of a run: one JSON line an iteration or event, readable while it runs."""

import errno
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from rookery.base import DiskFull, open_file, write_atomic

Line = dict[str, Any]
MAX_LINE = 1_000_000
"""Bytes of the longest line that is read."""
_log = logging.getLogger(__name__)
_noted: set[Path] = set()


def parse_line(raw: bytes) -> Line | None:
    """Return a line of statistics; None if it is damaged."""
    try:
        line = from_json(raw) if len(raw) <= MAX_LINE else None
    except ValueError:
        return None
    if not isinstance(line, dict) or not isinstance(line.get("kind"), str):
        return None
    iteration = line.get("iteration")
    return line if type(iteration) is int and 0 <= iteration < 2**31 else None


def note_damage(path: Path, count: int) -> None:
    """Print a note that `count` damaged lines of the file are skipped, once per file."""
    if count and path not in _noted:
        _noted.add(path)
        _log.warning("note: %s", describe_damage(path, count))


def describe_damage(path: Path, count: int) -> str:
    """Return a sentence about damaged lines of a file."""
    return f"skipped {count} damaged line{'s' if count > 1 else ''} of {path}"


class Stats:
    """The file of a run's statistics, or another one of such lines."""

    def __init__(self, folder: Path, name: str = "stats.jsonl") -> None:
        self.path = folder / name

    def append(self, kind: str, iteration: int, **parts: Any) -> Line:
        """Add a line of `kind`; dataclasses among `parts` become objects."""
        plain = {name: asdict(p) if is_dataclass(p) else p for name, p in parts.items()}  # type: ignore[arg-type]
        line = {"kind": kind, "iteration": iteration, **plain}
        try:
            with open(self.path, "ab+") as file:
                if file.seek(0, os.SEEK_END):
                    file.seek(-1, os.SEEK_END)
                    is_cut = file.read() != b"\n"  # by a crash
                    file.write(b"\n" * is_cut)
                file.write(json.dumps(line).encode() + b"\n")
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                place = f"{self.path}; free some space and resume"
                raise DiskFull(f"no room left to write {place}") from error
            raise
        return line

    def lines(self) -> Iterator[Line]:
        """Yield all whole lines, oldest first; skip damaged ones, with a note."""
        if not os.path.lexists(self.path):
            return
        damaged = 0
        with open_file(self.path) as file:
            content = file.read()
        for raw in content.split(b"\n"):
            if line := parse_line(raw):
                yield line
            elif raw.strip():
                damaged += 1
        note_damage(self.path, damaged)

    def forget_after(self, iteration: int) -> None:
        """Drop the lines of iterations that a resumed run will make again."""
        self.copy_until(iteration, self)

    def copy_until(self, iteration: int, target: "Stats") -> None:
        """Replace the lines of `target` by those up to `iteration`."""
        kept = [json.dumps(line) for line in self.lines() if line["iteration"] <= iteration]
        write_atomic(target.path, "".join(line + "\n" for line in kept).encode())
