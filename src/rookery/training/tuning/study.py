"""A study: short runs under different settings, which Optuna proposes from earlier results.

study.json       the settings that all runs share, and the space that is searched
trials.sqlite    the trials and their results, kept by Optuna
trial-0003       the run of a trial, an ordinary run folder
.lock            held by the process that tunes

A trial whose run was stopped or killed is marked as failed; another one continues its run.
"""

import gc
import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

import torch

from rookery.arena import Strength
from rookery.base import (
    MALFORMED,
    ConfigError,
    FileDamaged,
    RunFolderError,
    open_file,
    write_atomic,
)
from rookery.learning import LearningDiverged
from rookery.training.config import Config, apply, from_json, setting_names, to_json
from rookery.training.factory import train
from rookery.training.progress import Progress, ProgressCallback, Stopped
from rookery.training.store.folder import RunFolder, hold, read_config
from rookery.training.store.stats import Stats
from rookery.training.tuning.space import Between, Space, value_of

REPORTS = 10
"""Points, evenly over a run, at which trials are compared."""
WARMUP_REPORTS = 3
"""Reports before a trial may be pruned."""
WARMUP_TRIALS = 4
"""Trials that finish before another one may be pruned."""
TRIAL_ERRORS = (LearningDiverged, torch.cuda.OutOfMemoryError)
"""Errors that a trial's settings may cause; any other error ends the study."""

Show = Callable[[RunFolder, tuple[str, ...]], AbstractContextManager[ProgressCallback]]
"""Takes a run and the settings of its trial; returns the callback that shows its progress."""


@dataclass(frozen=True)
class TrialResult:
    """The result of a trial."""

    run: Path
    settings: tuple[str, ...]
    """The settings that it does not share with other trials, in the form of `--set`."""
    errors: float | None
    """Its last measurement of strength, in percent; None if there is none."""
    ended: str
    is_finished: bool
    """Whether its run reached its end."""

    def rank(self) -> tuple[bool, float]:
        """Return a key by which better trials come first; finished ones before all others."""
        return not self.is_finished, inf if self.errors is None else self.errors


@dataclass
class Trial:
    """A trial under way."""

    folder: RunFolder
    settings: tuple[str, ...]
    asked: Any
    """Optuna's trial."""
    verdict: str = ""
    """Why it has to end, or an empty text."""

    def report(self, number: int, errors: float) -> None:
        """Compare report `number` with earlier trials: a trial worse than their median is pruned.

        Its verdict then says so.
        """
        self.asked.report(errors, number)
        if number < REPORTS and self.asked.should_prune():
            self.verdict = f"pruned at {number / REPORTS:.0%}"


class Reporter:
    """Shows a run, and reports its strength up to REPORTS times."""

    def __init__(self, callback: ProgressCallback, report: Callable[[int, float], None]) -> None:
        self._callback, self._report = callback, report
        self._reports = 0
        self._strength: Strength | None = None

    def __call__(self, progress: Progress) -> None:
        """Show the progress, and report the strength if that is due."""
        self._callback(progress)
        is_measuring = progress.phase == "measuring" and progress.strength is self._strength
        reports = int(progress.progress * REPORTS)
        if progress.strength is None or is_measuring or reports <= self._reports:
            return
        self._reports, self._strength = reports, progress.strength
        self._report(reports, progress.strength.errors)


class Study:
    """A study in its folder; a context that one process at a time may enter."""

    def __init__(self, path: Path, config: Config, space: Space) -> None:
        """Open the study at `path` or create it; RunFolderError if its settings differ."""
        self.path, self.config, self.space = path, config, space
        self._optuna = _import_optuna()
        self._states = self._optuna.trial.TrialState
        _check_config(config)
        if os.path.lexists(path) and (not path.is_dir() or any(path.iterdir())):
            _check_same(path, config, space)
            return
        path.mkdir(parents=True, exist_ok=True)
        content = {"config": json.loads(to_json(config)), "space": [str(each) for each in space]}
        write_atomic(path / "study.json", json.dumps(content, indent=2).encode())

    def __enter__(self) -> "Study":
        self._lock = hold(self.path)
        try:
            self._load()
        except BaseException:
            self._lock.close()
            raise
        for trial in self._study.get_trials(states=(self._states.RUNNING,)):
            self._try_again(trial)
        if not self._study.trials:
            self._study.enqueue_trial(self._usual())
        return self

    def __exit__(self, *error: object) -> None:
        self._storage.remove_session()
        self._storage.engine.dispose()
        self._lock.close()

    def _load(self) -> None:
        """Read the trials so far; every session of a study has a seed of its own."""
        from sqlalchemy.exc import SQLAlchemyError

        optuna, path = self._optuna, self.path / "trials.sqlite"
        pruner = optuna.pruners.MedianPruner(
            n_startup_trials=WARMUP_TRIALS, n_warmup_steps=WARMUP_REPORTS
        )
        try:
            self._storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
            self._study = optuna.create_study(
                storage=self._storage, study_name="study", load_if_exists=True, pruner=pruner
            )
            seed = (self.config.run.seed + len(self._study.trials)) % 2**32
        except (optuna.exceptions.OptunaError, SQLAlchemyError) as error:
            raise FileDamaged(f"{path} is damaged; restore it from a copy") from error
        self._study.sampler = optuna.samplers.TPESampler(seed=seed)

    def num_done(self) -> int:
        """Return the number of trials that were finished or pruned."""
        return len(self._done())

    def outcomes(self) -> list[TrialResult]:
        """Return their results: finished ones first, better ones first."""
        return sorted(map(self._outcome, self._done()), key=TrialResult.rank)

    def attempt(self, show: Show) -> TrialResult:
        """Run one more trial."""
        trial = self.begin()
        if isinstance(trial, TrialResult):
            return trial

        def report(number: int, errors: float) -> None:
            trial.report(number, errors)
            if trial.verdict:
                raise Stopped

        with show(trial.folder, trial.settings) as watch:
            failure = run_trial(trial.folder, Reporter(watch, report))
        return self.conclude(trial, failure or trial.verdict)

    def begin(self, device: str = "") -> Trial | TrialResult:
        """Begin one more trial; return its result if its settings do not fit together.

        With `device` its run is one process there.
        """
        asked = self._study.ask(self._distributions())
        settings = self._settings(asked.params)
        try:
            config = apply(self.config, settings)
        except ConfigError as error:
            return self._conclude(asked, f"failed: {error}")
        if device:
            config = replace(config, run=replace(config.run, devices=device, cluster=""))
        return Trial(self._folder(asked, config), settings, asked)

    def conclude(self, trial: Trial, verdict: str) -> TrialResult:
        """End a trial; one without a verdict whose run is not finished will be continued."""
        return self._conclude(trial.asked, verdict)

    def _folder(self, trial: Any, config: Config) -> RunFolder:
        """Return the trial's run: that of the trial that it continues, or a new one."""
        path = self.path / trial.user_attrs.get("run", "")
        if (path / "run.json").exists() and _elsewhere(read_config(path)) == _elsewhere(config):
            folder = RunFolder(path)
            folder.change(config)
            return folder
        name = f"trial-{trial.number:04}"
        trial.set_user_attr("run", name)
        return RunFolder.create(self.path / name, config)

    def _conclude(self, trial: Any, verdict: str) -> TrialResult:
        run = self.path / trial.user_attrs.get("run", "")
        errors = _errors(run)
        if _is_finished(run) and errors is None:
            verdict = "failed: its strength could not be measured"
        if verdict:
            trial.set_user_attr("ended", verdict)
            self._study.tell(trial, state=self._states.PRUNED)
        elif _is_finished(run):
            self._study.tell(trial, errors)
        else:
            self._try_again(trial)
        return self._outcome(self._study.trials[trial.number])

    def _try_again(self, trial: Any) -> None:
        """Let another trial continue the run of one that was interrupted."""
        kept = {name: run for name, run in trial.user_attrs.items() if name == "run"}
        waiting = self._study.get_trials(states=(self._states.WAITING,))
        if not any(other.user_attrs == kept and kept for other in waiting):
            self._study.enqueue_trial(trial.params, user_attrs=kept)
        self._study.tell(trial.number, state=self._states.FAIL)

    def _done(self) -> list[Any]:
        done = (self._states.COMPLETE, self._states.PRUNED)
        return list(self._study.get_trials(deepcopy=False, states=done))

    def _outcome(self, trial: Any) -> TrialResult:
        is_finished = trial.state == self._states.COMPLETE
        return TrialResult(
            run=self.path / trial.user_attrs.get("run", ""),
            settings=self._settings(trial.params),
            errors=trial.value,
            ended="finished" if is_finished else trial.user_attrs.get("ended", "interrupted"),
            is_finished=is_finished,
        )

    def _settings(self, values: dict[str, Any]) -> tuple[str, ...]:
        return tuple(each.setting(values[each.name]) for each in self.space if each.name in values)

    def _usual(self) -> dict[str, object]:
        """Return the settings without a study, which the first trial uses."""
        usual = {dimension.name: dimension.usual(self.config) for dimension in self.space}
        return {name: value for name, value in usual.items() if value is not None}

    def _distributions(self) -> dict[str, Any]:
        kinds, found = self._optuna.distributions, {}
        for each in self.space:
            if not isinstance(each, Between):
                found[each.name] = kinds.CategoricalDistribution(each.choices)
            elif each.is_whole:
                low, high = int(each.low), int(each.high)
                found[each.name] = kinds.IntDistribution(low, high, log=each.is_log)
            else:
                found[each.name] = kinds.FloatDistribution(each.low, each.high, log=each.is_log)
        return found


def run_trial(folder: RunFolder, callback: ProgressCallback) -> str:
    """Train the run of a trial; return why it failed, if that may be due to its settings."""
    failure = ""
    try:
        with suppress(Stopped):  # raised before the loop runs
            train(folder, callback)
    except TRIAL_ERRORS as error:
        failure = f"failed: {error}"
    gc.collect()  # networks and windows, before the next trial needs their memory
    torch.cuda.empty_cache()
    return failure


def _elsewhere(config: Config) -> Config:
    """Return settings without the place where the run trains."""
    return replace(config, run=replace(config.run, devices="cpu", cluster=""))


def _import_optuna() -> Any:  # an extra, whose types are not always there
    try:
        import optuna
    except ImportError as error:
        raise ConfigError("tuning needs Optuna (pip install 'rookery[tune]')") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _check_config(config: Config) -> None:
    """Refuse trials that have no end or are not measured there."""
    run = config.run
    if not (run.minutes or run.iterations):
        raise ConfigError("a trial has no end; give it one, as in --minutes 5")
    if not run.strength_every:
        raise ConfigError("run.strength_every is 0, but trials are compared by strength; raise it")


def _check_same(path: Path, config: Config, space: Space) -> None:
    """Raise RunFolderError if there is no study at `path`, or one with other settings."""
    if not (path / "study.json").exists():
        raise RunFolderError(f"{path} exists already and is not a study; choose another folder")
    try:
        with open_file(path / "study.json") as file:
            content = json.load(file)
        known, texts = from_json(json.dumps(content["config"])), content["space"]
    except ConfigError as error:
        raise ConfigError(f"{path / 'study.json'}: {error}") from error
    except MALFORMED as error:
        raise FileDamaged(f"{path / 'study.json'} is damaged; restore it") from error
    advice = "give the same settings, or another folder by --study"
    for name in setting_names():
        before, now = value_of(known, name), value_of(config, name)
        if before != now:
            raise RunFolderError(f"{path} was started with {name}={before}, got {now}; {advice}")
    if (known.game, texts) != (config.game, [str(each) for each in space]):
        before = f"{known.game}: {', '.join(texts)}"
        raise RunFolderError(f"{path} searches another space ({before}); {advice}")


def _is_finished(run: Path) -> bool:
    lines = list(Stats(run).lines())
    return bool(lines) and lines[-1]["kind"] == "finished"


def _errors(run: Path) -> float | None:
    """Return the last measurement of a run's strength; None if there is none."""
    measured = [
        line["strength"].get("errors")
        for line in Stats(run).lines()
        if line["kind"] == "strength" and isinstance(line.get("strength"), dict)
    ]
    numbers = [float(each) for each in measured if isinstance(each, int | float)]
    return numbers[-1] if numbers else None
