"""What Rookery needs of an experiment tracker, and the trackers by name."""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rookery.base import UnknownName, import_extra

PROJECT = "rookery"
"""The project or experiment that runs belong to, unless the tracker's own variables name one."""
MODULES = {
    "tensorboard": "torch.utils.tensorboard",
    "wandb": "wandb",
    "trackio": "trackio",
    "mlflow": "mlflow",
}
"""What is imported for each tracker; the extra has the tracker's name."""

Setting = str | int | float | bool | None


@dataclass(frozen=True)
class TrackedRun:
    """A run as trackers see it."""

    name: str
    folder: Path
    settings: Mapping[str, Setting]
    """By dotted name."""


class Tracker(Protocol):
    """One run in a tracker."""

    @property
    def id(self) -> str:
        """What finds the run again when it is resumed."""

    def log(self, scalars: Mapping[str, float], *, step: int, time: float) -> None:
        """Send figures of iteration `step`; `time` is in seconds since the epoch."""

    def close(self) -> None:
        """Send what is left."""


def read_trackers(texts: Sequence[str]) -> list[str]:
    """Return the trackers that the options name; raise ConfigError if one cannot be used here."""
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    for name in names:
        if name not in MODULES:
            raise UnknownName("tracker", name, MODULES)
        import_extra(name, extra=name, user=f"--log {name}")
    return list(dict.fromkeys(names))


def open_tracker(name: str, run: TrackedRun, known: str) -> Tracker:
    """Open the run in a tracker again, by the id `known`, or as a new one if that is empty."""
    module = importlib.import_module(f"rookery.interface.trackers.{name}_tracker")
    package: Any = importlib.import_module(MODULES[name])
    tracker: Tracker = module.open_run(package, run, known)
    return tracker
