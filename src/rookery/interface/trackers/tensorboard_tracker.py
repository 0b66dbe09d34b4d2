"""TensorBoard: event files in the folder `tensorboard` of the run."""

from collections.abc import Mapping
from typing import Any

from rookery.interface.trackers.tracker import TrackedRun

FOLDER = "tensorboard"
RESULTS = ("strength/errors", "elo/rating", "loss/total")
"""Figures that the table of hyperparameters shows."""


class TensorboardRun:
    """Writes one event file per session."""

    id = FOLDER

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def log(self, scalars: Mapping[str, float], *, step: int, time: float) -> None:
        """Write figures to the file."""
        for name, number in scalars.items():
            self._writer.add_scalar(name, number, step, walltime=time)
        self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        self._writer.close()


def open_run(package: Any, run: TrackedRun, known: str) -> TensorboardRun:
    """Begin an event file; the first one also holds the settings."""
    writer = package.SummaryWriter(str(run.folder / FOLDER))
    if not known:
        settings = {name: "" if each is None else each for name, each in run.settings.items()}
        for summary in package.summary.hparams(settings, dict.fromkeys(RESULTS, 0.0)):
            writer.file_writer.add_summary(summary)
    return TensorboardRun(writer)
