"""What diagnoses look at: the settings, the statistics as columns, and what probes have measured.

The statistics of a run may be damaged or come from an older Rookery: a figure that is missing or is
no finite number is NaN, and a diagnosis that needs it says nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.training.config import Config
from rookery.training.doctor.probes import Measured

Line = dict[str, Any]
Column = NDArray[np.float64]
FEWEST, MOST, SHARE = 4, 50, 0.25
"""The recent iterations are this share of all, within these bounds; so are the first ones."""

WHOLE = slice(None)
SESSIONS, MEASUREMENTS = ("started", "resumed"), ("strength", "elo")
"""Kinds of lines."""
MANY_UPDATES = 1000
"""Until then the network may know nothing yet, also in a healthy run."""
LARGEST = 1e15
"""No figure is as large."""


@dataclass(frozen=True)
class Evidence:
    """Everything that is known of a run."""

    config: Config
    lines: Sequence[Line]
    """Lines of the statistics, oldest first."""
    measured: Measured = field(default_factory=Measured)
    """What took longer to find out."""

    @cached_property
    def iterations(self) -> list[Line]:
        """The lines of iterations."""
        return [line for line in self.lines if line["kind"] == "iteration"]

    @cached_property
    def notes(self) -> list[str]:
        """The notes of the run, oldest first."""
        return [str(line.get("note")) for line in self.lines if line["kind"] == "note"]

    @property
    def began_trained(self) -> bool:
        """Whether the run began with the weights of another one."""
        return any(line.get("origin") for line in self.lines if line["kind"] == "started")

    @cached_property
    def recent(self) -> slice:
        """The last iterations, those before the last resumption left out if enough are left."""
        number = len(self.iterations)
        first = number - self._span
        return slice(max(first, min(self._resumed, number - FEWEST), 0), number)

    @property
    def first(self) -> slice:
        """As many iterations from the beginning of the run."""
        return slice(0, self._span)

    def column(self, name: str, part: slice = WHOLE) -> Column:
        """Return a figure of the iterations of a part by its path, such as selfplay.games."""
        if name not in self._columns:
            path = name.split(".")
            found = np.array([number_at(line, path) for line in self.iterations[part]])
            if part != WHOLE:  # most figures are needed for a few iterations only
                return found
            self._columns[name] = found
        return self._columns[name][part]

    @cached_property
    def _columns(self) -> dict[str, Column]:
        return {}

    def mean(self, name: str, part: slice | None = None, *, by: str = "") -> float:
        """Return the mean of a figure over a part, by default the recent one; NaN without any.

        `by` names the figure that weights it, such as the number of games.
        """
        part = part or self.recent
        values = self.column(name, part)
        weights = self.column(by, part) if by else np.ones(len(values))
        is_known = np.isfinite(values) & np.isfinite(weights) & (weights > 0)
        if not is_known.any():
            return nan
        return float(np.average(values[is_known], weights=weights[is_known]))

    def total(self, name: str, part: slice | None = None) -> float:
        """Return the sum of a figure over a part, by default the recent one."""
        return float(np.nansum(self.column(name, part or self.recent)))

    @cached_property
    def updates(self) -> float:
        """All updates of the run."""
        return self.total("learning.updates", WHOLE)

    @cached_property
    def durations(self) -> Column:
        """Seconds of every iteration; NaN where something was done for the first time in a session.

        The first iteration compiles, and so does the first measurement of strength.
        """
        seconds = self.column("seconds")
        durations = np.diff(seconds, prepend=nan)
        new = [*self._sessions, *self._first_measurements]
        durations[[number for number in new if number < len(durations)]] = nan
        return np.where(durations > 0, durations, nan)

    @cached_property
    def measuring(self) -> Column:
        """Seconds that measurements of strength took since the iteration before."""
        found = np.zeros(len(self.iterations) + 1)
        for made, line in self._numbered:
            took = number_at(line, ["took"]) if line["kind"] in MEASUREMENTS else 0.0
            found[made] += took if took > 0 else 0.0
        return found[:-1]  # what was measured after the last iteration is in none

    @cached_property
    def _numbered(self) -> list[tuple[int, Line]]:
        """All lines, with how many iterations had been made before each."""
        found, made = [], 0
        for line in self.lines:
            found.append((made, line))
            made += line["kind"] == "iteration"
        return found

    @cached_property
    def _sessions(self) -> list[int]:
        """How many iterations had been made at the start of each session."""
        return [made for made, line in self._numbered if line["kind"] in SESSIONS]

    @cached_property
    def _first_measurements(self) -> list[int]:
        """How many iterations had been made at the first measurement of each kind per session."""
        found, missing = [], set[str]()
        for made, line in self._numbered:
            if line["kind"] in SESSIONS:
                missing = set(MEASUREMENTS)
            elif line["kind"] in missing:
                missing.remove(line["kind"])
                found.append(made)
        return found

    @property
    def _resumed(self) -> int:
        return self._sessions[-1] if self._sessions else 0

    @property
    def _span(self) -> int:
        return min(max(int(SHARE * len(self.iterations)), FEWEST), MOST)


def number_at(value: Any, path: Iterable[str]) -> float:
    """Return the number at a path of nested dicts; NaN if there is none, or one beyond reason."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return nan
    return float(value) if abs(value) < LARGEST else nan
