"""One run while it trains: its clock, its statistics, its notes, and what it shows."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path

import torch

from rookery.arena import RatingEstimate, Strength
from rookery.base import FileDamaged, numbered_files
from rookery.gpu import GpuMonitor, GpuUsage, find_devices
from rookery.learning import LearnReport
from rookery.replay import Window, WindowStatistics, shard_path
from rookery.selfplay import SelfPlayReport
from rookery.training.config import Config
from rookery.training.fallbacks import Fallbacks
from rookery.training.progress import Progress, ProgressCallback
from rookery.training.store.checkpoint import Checkpoint
from rookery.training.store.folder import RunFolder
from rookery.training.store.kept import drop_older, keep_older
from rookery.training.store.stats import Stats
from rookery.workers import WorkerEvent

STATISTICS_SHARE = 0.02
"""Share of the time that figures of the whole window may take."""
RESERVED_SHARE = 0.1
RESERVED_SECONDS = 60.0
"""Time kept for the last measurement until one was made: this share of the run, and no more."""


class Run:
    """The bookkeeping of a run."""

    def __init__(
        self,
        folder: RunFolder,
        callback: ProgressCallback,
        *,
        device: torch.device,
        iteration: int,
        seconds: float,
    ) -> None:
        """`iteration` and `seconds` say how far the run had come before."""
        self.device = device
        self._monitors: dict[str, GpuMonitor] = {}
        run = folder.config.run
        self.reserve = min(60.0 * run.minutes * RESERVED_SHARE, RESERVED_SECONDS)
        """Seconds of the run's time that are kept for its last measurement of strength."""
        if not run.strength_every:
            self.reserve = 0.0
        self.folder, self.callback, self.iteration = folder, callback, iteration
        self.stats = Stats(folder.path)
        self.fallbacks = Fallbacks(run.fallback)
        self._begun, self._seconds_before = time.perf_counter(), seconds
        self._notes: list[str] = []
        self._window_statistics: WindowStatistics | None = None
        self._next_statistics = 0.0
        self.shown = Progress("self-play", iteration, self.progress(), self.seconds())
        self._watch_devices()

    @property
    def config(self) -> Config:
        """The settings that the run goes on with."""
        return self.folder.config

    def seconds(self) -> float:
        """Return the time that the run has taken so far, earlier sessions included."""
        return self._seconds_before + time.perf_counter() - self._begun

    def progress(self, *, more: int = 0) -> float:
        """Return the share of the run that is done, from 0 to 1; with `more` iterations."""
        run, seconds = self.config.run, self.seconds()
        if run.minutes:
            seconds *= 60 * run.minutes / max(60 * run.minutes - self.reserve, 1e-9)
        return run.progress(seconds, self.iteration + more)

    def seconds_left(self) -> float:
        """Return the time that is left; infinity without a limit."""
        limit = 60 * self.config.run.minutes
        return limit - self.seconds() if limit else float("inf")

    def show(self, phase: str, **news: object) -> None:
        """Tell the callback, which may raise Stopped."""
        news = {"measured": None, **news}
        self.shown = replace(
            self.shown,
            phase=phase,
            iteration=self.iteration,
            progress=self.progress(),
            seconds=self.seconds(),
            devices=_present({name: each.latest() for name, each in self._monitors.items()}),
            notes=tuple(self._notes),
            **news,  # type: ignore[arg-type]
        )
        self.callback(self.shown)

    def note(self, text: str) -> None:
        """Record an event that people should know of."""
        self._notes.append(text)
        self.stats.append("note", self.iteration, seconds=self.seconds(), note=text)

    def note_event(self, event: WorkerEvent) -> None:
        """Record what happened to a worker."""
        if event.fallback:
            self.fall_back(event.fallback, str(event))
        else:
            self.note(str(event))

    def fall_back(self, kind: str, note: str) -> None:
        """Record a fallback, or raise FallbackRefused if `run.fallback` does not allow it."""
        self.fallbacks.take(kind, note)
        self.note(note)

    def adapt(self, config: Config, note: str) -> None:
        """Go on with other settings, and record why."""
        self.note(note)
        self.folder.adapt(config)
        self._watch_devices()

    def record_start(self, kind: str, **facts: object) -> None:
        """Add the first line of a session: `kind` is started or resumed."""
        folder = self.folder
        self.stats.append(kind, self.iteration, origin=folder.origin, given=folder.given, **facts)

    def record_iteration(
        self,
        iteration: int,
        played: SelfPlayReport,
        learned: LearnReport | None,
        window: Window,
        *,
        is_exact: bool,
        **facts: object,
    ) -> None:
        """Add the line of an iteration; in an exact run it does not depend on the clock."""
        self.stats.append(
            "iteration",
            iteration,
            seconds=self.seconds(),
            progress=self.progress(),
            selfplay=played,
            learning=learned,
            window=self._statistics(window, is_exact=is_exact),
            fallbacks=self.fallbacks.counts(),
            **self._usage(GpuMonitor.read),
            **facts,
        )

    def record_scaling(self, request: str, *, refused: str, **counts: object) -> None:
        """Add the line that answers a request to scale; `refused` is empty or the reason."""
        facts = {"refused": refused, "devices": self.config.run.devices, **counts}
        self.stats.append(
            "scaled", self.iteration, seconds=self.seconds(), request=request, **facts
        )

    def record_strength(self, iteration: int, strength: Strength, *, took: float) -> None:
        """Add the line of a measurement that took `took` seconds."""
        self.show("measuring", strength=strength, measured=1.0)
        self.stats.append(
            "strength",
            iteration,
            seconds=self.seconds(),
            took=took,
            simulations=self.config.run.strength_simulations,
            strength=strength,
        )

    def record_elo(self, iteration: int, rating: RatingEstimate, **games: object) -> None:
        """Add the line of a rating and of the games that were played for it."""
        self.show("measuring", elo=rating, measured=1.0)
        numbers = asdict(rating)
        self.stats.append("elo", iteration, seconds=self.seconds(), **numbers, **games)

    def record_end(self) -> None:
        """Add the last line of a run that has reached its end."""
        usage = self._usage(GpuMonitor.overall)
        self.stats.append("finished", self.iteration, seconds=self.seconds(), **usage)

    def close(self) -> None:
        """Stop watching the GPUs."""
        for monitor in self._monitors.values():
            monitor.close()

    def is_measured(self) -> bool:
        """Return whether the strength of the present iteration is known."""
        found = ((line["kind"], line["iteration"]) for line in self.stats.lines())
        return ("strength", self.iteration) in found

    def shard(self, number: int) -> Path:
        """Return the path of a shard."""
        return shard_path(self.folder.path / "replay", number)

    def save_checkpoint(self, new: Checkpoint) -> None:
        """Replace the checkpoint; with `run.keep_checkpoints` the last ones before it stay."""
        path, newest = self.folder.path, new.position.iteration
        kept = self.config.run.keep_checkpoints - 1
        if kept:
            try:
                keep_older(path, newest=newest)
            except FileDamaged as error:
                self.note(f"the checkpoint before iteration {newest} is not kept: {error}")
        new.save(path)
        drop_older(path, newest=newest, kept=kept)

    def delete_shards(self, needed: tuple[int, ...]) -> None:
        """Delete all shards but the needed ones."""
        for number, path in numbered_files(self.folder.path / "replay").items():
            if number not in needed:
                path.unlink()

    def _watch_devices(self) -> None:
        """Measure the load of the GPUs of the run, and of no others, from now on."""
        found = find_devices(self.config.run.devices)
        gpus = {str(each): each for each in found if each.type == "cuda"}
        for name in self._monitors.keys() - gpus.keys():
            self._monitors.pop(name).close()
        for name in gpus.keys() - self._monitors.keys():
            self._monitors[name] = GpuMonitor(gpus[name])

    def _usage(self, read: Callable[[GpuMonitor], GpuUsage | None]) -> dict[str, object]:
        """Return the load of the device that learns, and that of all GPUs if there are several."""
        usage = _present({name: read(monitor) for name, monitor in self._monitors.items()})
        found: dict[str, object] = {"device": usage.get(str(self.device))}
        if len(usage) > 1:
            found["devices"] = {name: asdict(each) for name, each in usage.items()}
        return found

    def _statistics(self, window: Window, *, is_exact: bool) -> WindowStatistics:
        """Return figures of the window; unless exact, those that take long may be a little old."""
        begun = self.seconds()
        if is_exact or self._window_statistics is None or begun >= self._next_statistics:
            self._window_statistics = window.statistics(self.iteration)
            self._next_statistics = begun + (self.seconds() - begun) / STATISTICS_SHARE
        return replace(self._window_statistics, rows=len(window), rows_made=window.rows_made)


def _present(usage: Mapping[str, GpuUsage | None]) -> dict[str, GpuUsage]:
    """Return the devices whose load is known."""
    return {name: each for name, each in usage.items() if each is not None}
