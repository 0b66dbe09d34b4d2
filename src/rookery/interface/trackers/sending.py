"""Sends the statistics of a run to trackers while it trains.

Each tracker has a thread that reads `stats.jsonl`, as `rookery watch` does: training neither waits
for a tracker nor fails with it. `trackers.json` in the run folder holds the id of the run in each
tracker and how far it was sent, so that a resumed run goes on there.
"""

import json
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rookery.base import open_file, write_atomic
from rookery.interface.printable import one_line, printable
from rookery.interface.run_history import RunHistory
from rookery.interface.stats_tail import Line, StatsTail
from rookery.interface.trackers.tracker import Setting, TrackedRun, open_tracker
from rookery.training import RunFolder, to_json

NAME = "trackers.json"
POLL_SECONDS = 1.0
CLOSE_SECONDS = 20.0
"""How long the end of training waits for each tracker."""
KINDS = ("iteration", "strength", "elo")
_log = logging.getLogger(__name__)
_writing = threading.Lock()


@dataclass
class _Sent:
    """A run in one tracker."""

    id: str = ""
    last: dict[str, int] = field(default_factory=dict)
    """The last iteration that was sent, by kind of line."""


_STORED = TypeAdapter(dict[str, _Sent])


@contextmanager
def sending(folder: RunFolder, names: Sequence[str]) -> Iterator[None]:
    """Send the statistics of the run to the trackers `names` until the context ends."""
    run = describe(folder)
    end = threading.Event()
    threads = [
        threading.Thread(target=_send_all, args=(name, run, end), name=name, daemon=True)
        for name in names
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        end.set()
        for thread in threads:
            thread.join(CLOSE_SECONDS)
            if thread.is_alive():
                _note(thread.name, "it does not answer")


def describe(folder: RunFolder) -> TrackedRun:
    """Return the run as trackers see it."""
    path = folder.path.resolve()
    return TrackedRun(printable(path.name), path, flatten(json.loads(to_json(folder.config))))


def flatten(tree: dict[str, Any], prefix: str = "") -> dict[str, Setting]:
    """Return the leaves of a tree of settings by dotted name."""
    flat: dict[str, Setting] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            is_plain = value is None or isinstance(value, str | int | float)
            flat[prefix + name] = value if is_plain else json.dumps(value)
    return flat


def scalars_of(history: RunHistory, line: Line) -> dict[str, float]:
    """Return the figures of the last line of `history`, those that are finite, by plain name."""
    if line["kind"] == "strength":
        found = {"strength/errors": line["strength"]["errors"]}
    elif line["kind"] == "elo":
        names = {"rating": "elo", "low": "low", "high": "high"}
        found = {f"elo/{name}": line[key] for name, key in names.items() if key in line}
    else:
        found = _scalars_of_iteration(history, line)
    numbers = {name: each for name, each in found.items() if isinstance(each, int | float)}
    return {name: float(number) for name, number in numbers.items() if isfinite(number)}


def _scalars_of_iteration(history: RunHistory, line: Line) -> dict[str, float]:
    played, window, learned = line["selfplay"], line["window"], line["learning"]
    found = {
        "speed/positions_per_second": history.positions_per_second(),
        "speed/simulations_per_second": history.simulations_per_second(),
        "total/seconds": line["seconds"],
        "total/games": history.games,
        "total/positions": history.positions,
        "total/updates": history.updates,
    }
    shares = ("mean_length", "first_wins", "draws", "duplicate_games")
    found |= {f"games/{name}": played[name] for name in shares}
    figures = ("rows", "mean_age", "duplicate_share", "policy_entropy")
    found |= {f"window/{name}": window[name] for name in figures}
    if learned:
        found |= {f"loss/{name}": number for name, number in learned["losses"].items()}
        found["learning/rate"] = learned["learning_rate"]
        found["speed/rows_learned_per_second"] = learned["rows_per_second"]
    return found


def _send_all(name: str, run: TrackedRun, end: threading.Event) -> None:
    """Send new lines until the end; if the tracker fails, print a note and send no more."""
    try:
        sender = _Sender(name, run)
        while not end.wait(POLL_SECONDS):
            sender.send()
        sender.send()
        sender.close()
    except Exception as error:  # whatever a tracker raises
        _note(name, f"{type(error).__name__}: {error}")


class _Sender:
    def __init__(self, name: str, run: TrackedRun) -> None:
        self._name, self._run = name, run
        self._sent = _read(run.folder).get(name, _Sent())
        self._tail, self._history = StatsTail(run.folder), RunHistory()
        self._tracker = open_tracker(name, run, self._sent.id)
        self._sent.id = self._tracker.id
        self.close = self._tracker.close
        self._store()

    def send(self) -> None:
        """Send the lines that are new and were not sent in an earlier session."""
        lines, is_restart = self._tail.read()
        if is_restart:
            self._history = RunHistory()
        new = list(self._new(lines))
        for line, scalars in new:
            age = self._history.seconds - line["seconds"]
            self._tracker.log(scalars, step=line["iteration"], time=time.time() - age)
            self._sent.last[line["kind"]] = line["iteration"]
        if new:
            self._store()

    def _new(self, lines: Sequence[Line]) -> Iterator[tuple[Line, dict[str, float]]]:
        for line in lines:
            damaged = self._history.damaged
            self._history.add([line])
            is_sent = line["iteration"] <= self._sent.last.get(line["kind"], -1)
            if line["kind"] in KINDS and not is_sent and self._history.damaged == damaged:
                yield line, scalars_of(self._history, line)

    def _store(self) -> None:
        with _writing:
            stored = {**_read(self._run.folder), self._name: self._sent}
            plain = {name: asdict(each) for name, each in stored.items()}
            write_atomic(self._run.folder / NAME, json.dumps(plain, indent=2).encode())


def _read(folder: Path) -> dict[str, _Sent]:
    """Return what was sent to each tracker; nothing if the file is missing or damaged."""
    try:
        with open_file(folder / NAME) as file:
            return _STORED.validate_json(file.read())
    except (FileNotFoundError, ValidationError):
        return {}


def _note(name: str, why: str) -> None:
    _log.warning("note: nothing more is sent to %s (%s); training goes on", name, one_line(why))
