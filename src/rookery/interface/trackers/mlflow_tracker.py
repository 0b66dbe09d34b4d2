"""MLflow; MLFLOW_TRACKING_URI and MLFLOW_EXPERIMENT_NAME apply."""

import os
from collections.abc import Mapping
from typing import Any

from rookery.interface.trackers.tracker import PROJECT, TrackedRun

MAX_PARAMETERS = 100
"""Parameters that MLflow takes at a time."""


class MlflowRun:
    """A run of an MLflow experiment."""

    def __init__(self, package: Any, client: Any, run_id: str) -> None:
        self._metric, self._client = package.entities.Metric, client
        self.id = run_id

    def log(self, scalars: Mapping[str, float], *, step: int, time: float) -> None:
        """Send figures."""
        milliseconds = int(1000 * time)
        figures = scalars.items()
        metrics = [self._metric(name, number, milliseconds, step) for name, number in figures]
        self._client.log_batch(self.id, metrics=metrics)

    def close(self) -> None:
        """Mark the run as ended."""
        self._client.set_terminated(self.id)


def open_run(package: Any, run: TrackedRun, known: str) -> MlflowRun:
    """Begin a run with the settings as parameters, or continue the one with the id `known`."""
    client = package.MlflowClient()
    if known:
        client.update_run(known, status="RUNNING")
        return MlflowRun(package, client, known)
    name = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
    found = client.get_experiment_by_name(name)
    experiment = found.experiment_id if found else client.create_experiment(name)
    begun = client.create_run(experiment, run_name=run.name).info.run_id
    settings = [package.entities.Param(name, str(each)) for name, each in run.settings.items()]
    for start in range(0, len(settings), MAX_PARAMETERS):
        client.log_batch(begun, params=settings[start : start + MAX_PARAMETERS])
    return MlflowRun(package, client, begun)
