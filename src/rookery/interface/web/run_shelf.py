"""The runs that the web app shows: those given, and those in the folders given.

A run has a name in addresses, made of the name of its folder. Clients say names, never paths, and
only names that the shelf has given are known. A link that leads out of a given folder is no run.
"""

import hashlib
import os
import re
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from rookery.base import ConfigError
from rookery.interface.web.live_run import LiveRun

SIGNS_OF_A_RUN = ("run.json", "config.json", "stats.jsonl", "weights")
"""A folder with one of these is a run, whole or damaged."""
DEEPEST = 2
"""Levels of folders below a given one that are looked into."""
MAX_RUNS = 2000
MAX_ENTRIES = 20_000
"""Folders that one look visits at most."""
AHEAD_SECONDS, FIRST_SECONDS = 10.0, 1.0
"""Time for reading runs ahead, and the part of it before the first page is answered."""


class UnknownRun(ConfigError):
    """A name that no run has."""


class RunShelf:
    """Finds runs again whenever it is asked, and keeps what was read of them."""

    def __init__(self, given: Iterable[Path]) -> None:
        self.given = [Path(os.path.abspath(path)) for path in given]
        self._runs: dict[str, LiveRun] = {}
        self._names: dict[str, str] = {}
        """Names by real path."""
        self._lock = threading.Lock()

    @property
    def home(self) -> Path | None:
        """The folder for new runs: the first given one that is not a run itself."""
        return next((path for path in self.given if not is_run(path)), None)

    def runs(self) -> list[LiveRun]:
        """Return all runs there are now, in the order of their folders."""
        found = [self.add(path) for path in self._find()]
        with self._lock:
            present = {run.name for run in found}
            gone = [name for name, run in self._runs.items() if not run.is_awaited]
            for name in set(gone) - present:
                self._names.pop(os.path.realpath(self._runs.pop(name).path), None)
            return list(self._runs.values())

    def read_ahead(self) -> None:
        """Read the runs in a thread, those changed last first, so that their pages open at once.

        Wait for it a moment: a page that loads while its run is read takes longer than both.
        """
        thread = threading.Thread(target=self._read_ahead, name="read ahead", daemon=True)
        thread.start()
        thread.join(FIRST_SECONDS)

    def _read_ahead(self) -> None:
        until = time.monotonic() + AHEAD_SECONDS
        for run in sorted(self.runs(), key=lambda run: _changed_at(run.path), reverse=True):
            if time.monotonic() < until:
                run.refresh()

    def run(self, name: str) -> LiveRun:
        """Return the run of this name, or raise ConfigError."""
        if name not in self._runs:
            self.runs()
        with self._lock:
            found = self._runs.get(name)
        if found is None or not (found.is_awaited or is_run(found.path)):
            raise UnknownRun(f"there is no run {name[:80]!r}; the list shows all runs")
        return found

    def add(self, path: Path) -> LiveRun:
        """Return the run at `path`, which is inside a given folder."""
        real = os.path.realpath(path)
        with self._lock:
            if real not in self._names:
                name = self._free_name(path.name, real)
                self._names[real], self._runs[name] = name, LiveRun(name, path)
            return self._runs[self._names[real]]

    def _free_name(self, folder: str, real: str) -> str:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", folder).strip(".-")[:80] or "run"
        if name in self._runs:
            name += "-" + hashlib.sha256(os.fsencode(real)).hexdigest()[:8]
        return name

    def _find(self) -> list[Path]:
        found: list[Path] = []
        for root in self.given:
            budget = [MAX_ENTRIES]
            _collect(root, os.path.realpath(root), DEEPEST, found, budget)
        return found[:MAX_RUNS]


def is_run(path: Path) -> bool:
    """Whether a folder is a run, whole or damaged."""
    return any(os.path.lexists(path / name) for name in SIGNS_OF_A_RUN)


def _changed_at(path: Path) -> float:
    try:
        return os.stat(path / "stats.jsonl").st_mtime
    except OSError:  # not there yet
        return 0.0


def _collect(folder: Path, root: str, deep: int, found: list[Path], budget: list[int]) -> None:
    """Add the runs in `folder`, which is inside the real path `root`."""
    real = os.path.realpath(folder)
    if budget[0] <= 0 or (real != root and not real.startswith(os.path.join(root, ""))):
        return
    budget[0] -= 1
    if is_run(folder):
        found.append(folder)
    elif deep:
        for entry in _folders(folder):
            _collect(entry, root, deep - 1, found, budget)


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [each.name for each in entries if each.is_dir() and each.name[0] != "."]
    except OSError:  # gone, or not readable: nothing to show
        return []
    return [folder / name for name in sorted(names)]
