"""The figures of a run as columns of numbers: one row for each iteration, thinned for a chart."""

from array import array
from collections.abc import Iterable, Sequence
from math import isfinite, nan
from typing import Any

Line = dict[str, Any]
Numbers = list[float | None]

SOURCES: dict[str, tuple[str, ...]] = {
    "iteration": ("iteration",),
    "seconds": ("seconds",),
    "games": ("selfplay", "games"),
    "mean_length": ("selfplay", "mean_length"),
    "first_wins": ("selfplay", "first_wins"),
    "draws": ("selfplay", "draws"),
    "duplicate_games": ("selfplay", "duplicate_games"),
    "mean_batch": ("selfplay", "mean_batch"),
    "useful_rows": ("selfplay", "useful_rows"),
    "window_rows": ("window", "rows"),
    "replay_age": ("window", "mean_age"),
    "duplicate_rows": ("window", "duplicate_share"),
    "policy_entropy": ("window", "policy_entropy"),
    "loss": ("learning", "losses", "total"),
    "policy_loss": ("learning", "losses", "policy"),
    "value_loss": ("learning", "losses", "value"),
    "policy_kl": ("learning", "losses", "policy_kl"),
    "policy_accuracy": ("learning", "losses", "policy_accuracy"),
    "value_accuracy": ("learning", "losses", "value_accuracy"),
    "gradient_norm": ("learning", "losses", "gradient_norm"),
    "learning_rate": ("learning", "learning_rate"),
    "updates": ("learning", "updates"),
    "rows_per_second": ("learning", "rows_per_second"),
    "device_busy": ("device", "busy"),
    "device_mb": ("device", "memory_mb"),
    "staleness": ("actors", "staleness"),
    "learner_waited": ("actors", "learner_waited"),
    "games_waited": ("actors", "games_waited"),
}
"""Where each column stands in the line of an iteration."""
_PARTS = {path[:-1] for path in SOURCES.values()}
_FIELDS = {
    part: [(name, path[-1]) for name, path in SOURCES.items() if path[:-1] == part]
    for part in _PARTS
}
"""Columns and their keys, by the part of the line that holds them."""
SPEEDS = ("positions_per_second", "simulations_per_second")
"""Columns that are computed."""
NAMES = (*SOURCES, *SPEEDS)
MAX_DEVICES = 64
"""GPUs with columns of their own, `busy cuda:0` and `memory cuda:0`."""


class Columns:
    """Numbers of all iterations so far, NaN where one is missing."""

    def __init__(self) -> None:
        self._numbers = {name: array("d") for name in NAMES}
        self._devices: dict[str, array[float]] = {}

    def __len__(self) -> int:
        return len(self._numbers["iteration"])

    def add(self, lines: Iterable[Line]) -> None:
        """Add the iterations among whole lines."""
        for line in lines:
            if line["kind"] == "iteration":
                self._add(line)

    def _add(self, line: Line) -> None:
        for part, fields in _FIELDS.items():
            found = _part(line, part)
            for name, key in fields:
                self._numbers[name].append(_number(found.get(key)))
        speed = _positions_per_second(line)
        each = _ratio(line["selfplay"]["simulations"], max(line["selfplay"]["positions"], 1))
        self._numbers["positions_per_second"].append(speed)
        self._numbers["simulations_per_second"].append(speed * each)
        self._add_devices(line.get("devices") or {})

    def _add_devices(self, devices: Line) -> None:
        for name, usage in devices.items():
            for kind, value in (("busy", usage["busy"]), ("memory", usage["memory_mb"])):
                key = f"{kind} {name}"
                if key not in self._devices and len(self._devices) >= 2 * MAX_DEVICES:
                    continue
                column = self._devices.setdefault(key, array("d"))
                column.extend([nan] * (len(self) - 1 - len(column)))
                column.append(_ratio(value, 1))

    def rows(self, first: int, end: int | None = None) -> dict[str, Numbers]:
        """Return the rows from `first` to `end`."""
        return self._pick(range(len(self))[first:end])

    def thinned(self, points: int, from_iteration: int = 0) -> dict[str, Numbers]:
        """Return at most `points` rows, evenly spread, the newest included."""
        iterations = self._numbers["iteration"]
        chosen = [row for row in range(len(self)) if iterations[row] >= from_iteration]
        return self._pick(spread(chosen, points))

    def newest(self, name: str, count: int) -> Numbers:
        """Return `count` numbers of a column, spread over the whole run."""
        column = self._numbers[name]
        known = [row for row in range(len(column)) if isfinite(column[row])]
        return [_plain(column[row]) for row in spread(known, count)]

    def _pick(self, rows: Sequence[int]) -> dict[str, Numbers]:
        """Return rows of the columns, without columns that have no numbers at all."""
        found = {}
        for name, column in (*self._numbers.items(), *self._devices.items()):
            numbers = [_plain(column[row]) if row < len(column) else None for row in rows]
            if name == "iteration" or any(number is not None for number in numbers):
                found[name] = numbers
        return found


def spread(items: Sequence[int], count: int) -> Sequence[int]:
    """Return at most `count` of the items, evenly spread, the last one included."""
    if len(items) <= count:
        return items
    last = len(items) - 1
    return [items[last - (last * step) // max(count - 1, 1)] for step in reversed(range(count))]


def _part(line: Line, path: tuple[str, ...]) -> Line:
    """Return a part of a line, {} if it is not there."""
    for name in path:
        found = line.get(name)
        if not isinstance(found, dict):
            return {}
        line = found
    return line


def _number(found: object) -> float:
    if type(found) is float:
        return found
    return _ratio(found, 1) if type(found) is int else nan


def _positions_per_second(line: Line) -> float:
    """Return the speed of an iteration, the sum over all actors."""
    if actors := line.get("actors"):
        return _ratio(sum(each["positions_per_second"] for each in actors["workers"]), 1)
    return _ratio(line["selfplay"]["positions"], max(line["selfplay"]["seconds"], 1e-9))


def _ratio(number: float, divisor: float) -> float:
    try:
        return float(number / divisor)
    except OverflowError:  # a whole number beyond all doubles
        return nan


def _plain(number: float) -> float | None:
    """Return a number in six digits, whole ones in full, for JSON."""
    if not isfinite(number):
        return None
    return int(number) if number.is_integer() else float(f"{number:.6g}")
