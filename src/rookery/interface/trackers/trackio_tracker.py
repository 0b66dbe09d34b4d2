"""Trackio, which keeps runs on this machine; its variables apply."""

import os
from collections.abc import Mapping
from secrets import token_hex
from typing import Any

from rookery.interface.trackers.tracker import PROJECT, TrackedRun


class TrackioRun:
    """A run that Trackio keeps by its name."""

    def __init__(self, run: Any, name: str) -> None:
        self._run = run
        self.id = name

    def log(self, scalars: Mapping[str, float], *, step: int, time: float) -> None:
        """Store figures."""
        self._run.log(dict(scalars), step=step)

    def close(self) -> None:
        """Store what is left."""
        self._run.finish()


def open_run(package: Any, run: TrackedRun, known: str) -> TrackioRun:
    """Begin a run under a name of its own, or continue the one with the name `known`."""
    name = known or f"{run.name}-{token_hex(3)}"
    opened = package.init(
        project=os.environ.get("TRACKIO_PROJECT", PROJECT),
        name=name,
        config=dict(run.settings),
        resume="allow" if known else "never",
    )
    return TrackioRun(opened, name)
