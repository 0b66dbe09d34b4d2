"""The statistics of a run: one JSON line an iteration or event, readable while it runs."""

import errno
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from rookery.base import DiskFull, open_file, write_atomic

Line = dict[str, Any]


class Stats:
    """The file of a run's statistics."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "stats.jsonl"

    def append(self, kind: str, iteration: int, **parts: Any) -> Line:
        """Add a line of `kind`; dataclasses among `parts` become objects."""
        plain = {name: asdict(p) if is_dataclass(p) else p for name, p in parts.items()}  # type: ignore[arg-type]
        line = {"kind": kind, "iteration": iteration, **plain}
        try:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                place = f"{self.path}; free some space and resume"
                raise DiskFull(f"no room left to write {place}") from error
            raise
        return line

    def lines(self) -> Iterator[Line]:
        """All whole lines, oldest first; what is none, as after a crash, is passed over."""
        if not os.path.lexists(self.path):
            return
        with open_file(self.path) as file:
            content = file.read().decode("utf-8", errors="replace")
        for text in content.splitlines():
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                continue
            if isinstance(line, dict) and "kind" in line and isinstance(line.get("iteration"), int):
                yield line

    def forget_after(self, iteration: int) -> None:
        """Drop the lines of iterations that a resumed run will make again."""
        kept = [json.dumps(line) for line in self.lines() if line["iteration"] <= iteration]
        write_atomic(self.path, "".join(line + "\n" for line in kept).encode())
