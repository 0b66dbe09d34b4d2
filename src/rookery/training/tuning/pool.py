"""Trials of a study in several processes, each of which runs one trial at a time.

The coordinator alone talks to Optuna: it gives settings to the workers, compares the strength that
they report, and stops the trials that fall behind. A trial whose worker is lost has failed.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from rookery import __version__
from rookery.base import ConfigError, RookeryError, available_cores
from rookery.games import load_game
from rookery.gpu import find_devices
from rookery.training.config import Config
from rookery.training.progress import Progress, Stopped
from rookery.training.store.folder import RunFolder
from rookery.training.tuning.study import Reporter, Study, Trial, TrialResult, run_trial
from rookery.workers import (
    Channel,
    Cluster,
    Message,
    ProcessWorker,
    Ready,
    Worker,
    WorkerPool,
    thread_limits,
)

WAIT_SECONDS = 1.0
SHOW_SECONDS = 1.0
"""Between two messages about the progress of a trial."""
STOP_SECONDS = 10.0
"""Time that trials have to write a checkpoint when the study is stopped."""
IDLE_SECONDS = 0.05


@dataclass(frozen=True)
class RunTrial(Message):
    """Train the run in a folder; the last reply is TrialEnded."""

    run: str
    game: str
    digest: str
    """SHA-256 of the rules file; empty for a bundled game."""


@dataclass(frozen=True)
class StopTrial(Message):
    """End the trial under way, with a checkpoint."""


@dataclass(frozen=True)
class TrialProgress(Message):
    """The share of the run that is done."""

    progress: float


@dataclass(frozen=True)
class TrialStrength(Message):
    """The strength of the run at report `number`."""

    number: int
    errors: float


@dataclass(frozen=True)
class TrialEnded(Message):
    """The trial has ended."""

    failure: str
    """Why it failed, if that may be due to its settings."""
    error: str = ""
    """Why no trial can run, if so."""


def check_parallel(config: Config) -> None:
    """Refuse settings with which a trial would need processes of its own."""
    if config.learning.method != "single" or config.run.actors != "0":
        raise ConfigError(
            "tune --workers runs every trial in one process; leave out --actors and "
            "learning.method, or --workers"
        )


def trial_worker(channel: Channel, job: None) -> None:
    """Run the trials that the coordinator asks for, until the channel closes."""
    channel.send(Ready(__version__))
    while True:
        message = channel.receive(WAIT_SECONDS)
        if isinstance(message, RunTrial):
            channel.send(_run(channel, message))


def _run(channel: Channel, message: RunTrial) -> TrialEnded:
    shown = time.monotonic()

    def watch(progress: Progress) -> None:
        nonlocal shown
        if isinstance(channel.receive(0), StopTrial):
            raise Stopped
        if time.monotonic() - shown >= SHOW_SECONDS:
            shown = time.monotonic()
            channel.send(TrialProgress(progress.progress))

    def report(number: int, errors: float) -> None:
        channel.send(TrialStrength(number, errors))

    path = Path(message.run)
    if not path.is_dir():
        return TrialEnded("", f"a worker has no {path}; use --study with a folder that all share")
    try:
        load_game(message.game, message.digest)
        return TrialEnded(run_trial(RunFolder(path), Reporter(watch, report)))
    except RookeryError as error:
        return TrialEnded("", str(error))


class TrialPool:
    """Runs trials of a study, which is entered, in `workers` processes or on a cluster."""

    def __init__(self, study: Study, workers: int, *, on_note: Callable[[str], None]) -> None:
        run = study.config.run
        self._study, self._workers = study, workers
        self._trials: dict[int, Trial] = {}
        """The trial of each worker that has one."""
        self._progress: dict[int, float] = {}
        self._resources = ExitStack()
        self._cluster: Cluster | None = None
        self._devices = [str(device) for device in find_devices(run.devices)]
        self._gpus = 0.0
        """GPUs that a worker on a cluster asks for."""
        if run.cluster:
            self._cluster = self._resources.enter_context(closing(Cluster(run.cluster)))
            gpus = 0 if run.devices == "cpu" else self._cluster.capacity().gpus
            self._devices, self._gpus = ["cuda:0" if gpus else "cpu"], min(1.0, gpus / workers)
        self._pool = WorkerPool(
            "trial worker", workers, self._start, on_event=lambda event: on_note(str(event))
        )

    def poll(self, trials: int) -> list[Trial | TrialResult]:
        """Return what has happened: trials that have begun, and results of those that have ended.

        Trials are begun as long as the study has fewer than `trials`.
        """
        events: list[Trial | TrialResult] = [*self._receive()]
        for number in self._pool.ready():
            missing = trials - self._study.num_done() - len(self._trials)
            if number not in self._trials and missing > 0:
                events.append(self._begin(number))
        return events

    def progress(self) -> list[tuple[str, float]]:
        """Return the runs under way, and the share of each that is done."""
        return [
            (trial.folder.path.name, self._progress.get(number, 0.0))
            for number, trial in sorted(self._trials.items())
        ]

    def close(self) -> None:
        """Stop all trials, so that the study can continue them, and end the workers."""
        for number in self._trials:
            self._pool.send(number, StopTrial())
        deadline = time.monotonic() + STOP_SECONDS
        with suppress(RookeryError):
            while self._trials and time.monotonic() < deadline:
                self._receive()
                time.sleep(IDLE_SECONDS)
        self._pool.close()
        self._resources.close()
        for trial in self._trials.values():
            self._study.conclude(trial, trial.verdict)

    def _begin(self, number: int) -> Trial | TrialResult:
        trial = self._study.begin(self._device(number))
        if isinstance(trial, Trial):
            game = trial.folder.game
            path = str(trial.folder.path.resolve())
            self._pool.send(number, RunTrial(path, trial.folder.config.game, game.digest))
            self._trials[number], self._progress[number] = trial, 0.0
        return trial

    def _receive(self) -> list[TrialResult]:
        """Take the messages of the workers; return the results of trials that have ended."""
        results = []
        for number, message in self._pool.poll():
            trial = self._trials.get(number)
            match message:
                case TrialProgress():
                    self._progress[number] = message.progress
                case TrialStrength() if trial is not None:
                    trial.report(message.number, message.errors)
                    if trial.verdict:
                        self._pool.send(number, StopTrial())
                case TrialEnded() if trial is not None:
                    del self._trials[number]
                    results.append(self._study.conclude(trial, message.failure or trial.verdict))
                    if message.error:
                        raise RookeryError(message.error)
        for number in self._trials.keys() - set(self._pool.ready()):
            failure = f"failed: its worker {self._pool.last_failure}"
            results.append(self._study.conclude(self._trials.pop(number), failure))
        return results

    def _start(self, name: str, number: int, incarnation: int) -> Worker:
        if self._cluster is not None:
            limits = thread_limits(1)
            return self._cluster.start(
                name, trial_worker, None, gpus=self._gpus, environment=limits
            )
        limits = thread_limits(max(1, available_cores() // self._workers))
        return ProcessWorker(name, trial_worker, None, environment=limits)

    def _device(self, number: int) -> str:
        return self._devices[number % len(self._devices)]
