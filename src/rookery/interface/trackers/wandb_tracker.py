"""Weights & Biases; WANDB_MODE, WANDB_PROJECT and its other variables apply."""

import os
from collections.abc import Mapping
from typing import Any

from rookery.interface.trackers.tracker import PROJECT, TrackedRun


class WandbRun:
    """A run that W&B sends in the background."""

    def __init__(self, run: Any) -> None:
        self._run = run
        self.id = str(run.id)
        # Measurements arrive after later iterations: W&B's own steps only grow.
        run.define_metric("iteration")
        run.define_metric("*", step_metric="iteration")

    def log(self, scalars: Mapping[str, float], *, step: int, time: float) -> None:
        """Hand figures to W&B."""
        self._run.log({**scalars, "iteration": step})

    def close(self) -> None:
        """Send what is left."""
        self._run.finish()


def open_run(package: Any, run: TrackedRun, known: str) -> WandbRun:
    """Begin a run, or continue the one with the id `known`."""
    return WandbRun(
        package.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=run.name,
            id=known or None,
            resume="allow" if known else None,
            config=dict(run.settings),
            dir=str(run.folder),
            settings=package.Settings(silent=True, console="off"),
        )
    )
