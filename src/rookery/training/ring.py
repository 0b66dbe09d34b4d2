"""The ring: self-play, replay, learning, weights, and round again; what every kind shares."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from rookery.arena import SearchPlayer, Strength, strength_test_for
from rookery.base import RunFolderError
from rookery.gpu import GpuMonitor, find_devices
from rookery.learning import Learner, LearningConfig
from rookery.nets import CPU_BACKENDS, GPU_BACKENDS, CpuEvaluator, GpuEvaluator
from rookery.replay import (
    DeviceWindow,
    Samples,
    Window,
    WindowStatistics,
    read_shard,
    shard_path,
)
from rookery.selfplay import DeviceSelfPlay, SelfPlay
from rookery.training.progress import Progress, ProgressCallback
from rookery.training.store.checkpoint import Arrays, Checkpoint, RunPosition, copied
from rookery.training.store.folder import RunFolder
from rookery.training.store.origin import new_net
from rookery.training.store.stats import Stats
from rookery.training.trainers.pool import TrainerPool
from rookery.workers import WorkerEvent, WorkerPool

STATISTICS_SECONDS = 10.0
"""Between two looks at the whole window."""


class Ring(ABC):
    """The parts of a run and where it stands."""

    learner: Learner | TrainerPool
    evaluator: CpuEvaluator | GpuEvaluator
    selfplay: SelfPlay | DeviceSelfPlay
    window: Window | DeviceWindow
    _games_on_gpu: bool | None = False
    """Where the games under way are; None where they are begun anew anyway."""

    def __init__(self, folder: RunFolder, watch: ProgressCallback) -> None:
        self.folder, self.watch = folder, watch
        self.config, self.game = folder.config, folder.game
        folder.make_folders()
        self.stats = Stats(folder.path)
        self.begun = time.perf_counter()
        self.device = find_devices(self.config.run.devices)[0]
        self._judge: SearchPlayer | None = None
        self._notes: list[str] = []
        self._usage = GpuMonitor(self.device)
        self._statistics: tuple[float, WindowStatistics] | None = None
        self._due = 0
        """Updates that are due for the rows that have come in."""
        self.crews: list[WorkerPool] = []
        found = Checkpoint.load(folder.path)
        self.seconds_before = found.position.seconds if found else 0.0
        self.iteration = found.position.iteration if found else 0
        if found:
            self._check_origin(found)
        else:
            self._check_beginning()
        self._build(found.position if found else None)
        self.stats.forget_after(self.iteration)
        if found:
            self._restore(found)
        self.moment = Progress("self-play", self.iteration, self.progress(), self.seconds())
        self.boundary = self._checkpoint()
        self.stats.append(
            "resumed" if found else "started",
            self.iteration,
            origin=folder.origin,
            device=str(self.device),
            inference=self.evaluator.choice,
            precision=self.learner.precision,
            threads=torch.get_num_threads(),
        )
        if isinstance(self.learner, TrainerPool):
            self._say(self.learner.terms())

    def seconds(self) -> float:
        """Time this run has taken so far, earlier stretches included."""
        return self.seconds_before + time.perf_counter() - self.begun

    def progress(self) -> float:
        """How much of the run is done, from 0 to 1."""
        return self.config.run.progress(self.seconds(), self.iteration)

    def _check_beginning(self) -> None:
        """RunFolderError where a run without a checkpoint is no beginner: it would begin anew."""
        kinds = {line["kind"] for line in self.stats.lines()}
        if kinds & {"resumed", "finished"} or self.folder.count_weights() > 1:
            raise RunFolderError(
                f"{self.folder.path} has lost its checkpoint; restore it from a copy, or begin a "
                "new run with --init"
            )

    def _check_origin(self, found: Checkpoint) -> None:
        """RunFolderError where a run was trained by another kind of device."""
        was_on_gpu = "marks.results" in found.selfplay
        if "actors" in found.selfplay or self._games_on_gpu is None:
            return  # a crew's games begin anew
        if was_on_gpu != self._games_on_gpu:
            where = "cuda:0" if was_on_gpu else "cpu"
            raise RunFolderError(
                f"{self.folder.path} was trained on {where.split(':')[0]}, and its games under way "
                f"are kept for that; resume it with --devices {where}"
            )

    @abstractmethod
    def turn(self) -> None:
        """One iteration: play, remember, learn, hand over the weights."""

    @abstractmethod
    def stop(self) -> None:
        """Keep what was reached."""

    def close(self) -> None:
        """End all workers, however the run ended."""
        self._usage.close()
        for crew in self.crews:
            crew.close()
        if isinstance(self.learner, TrainerPool):
            self.learner.close()

    def finish(self) -> None:
        """The last words of a run that has reached its end."""
        self._save()
        self._await_strength()
        if self.config.run.strength_every and not self._is_measured():
            self._measure()
            self._await_strength()
        device = self._usage.overall()
        self.stats.append("finished", self.iteration, seconds=self.seconds(), device=device)

    def _window_statistics(self) -> WindowStatistics:
        """Figures of the window; those that take long to find are a few seconds old."""
        now, books = self.seconds(), self.window.books
        if self._statistics is None or now > self._statistics[0] + STATISTICS_SECONDS:
            self._statistics = (now, self.window.statistics(self.iteration))
        return replace(self._statistics[1], rows=books.rows, rows_made=books.rows_made)

    def _measure(self) -> None:
        self._show("strength")
        simulations = self.config.run.strength_simulations
        if self._judge is None:
            self._judge = SearchPlayer(
                self.game,
                self.evaluator,
                config=self.config.search,
                simulations=simulations,
                seed=self.config.run.seed,
                name="run",
            )
        self._tell_strength(self.iteration, strength_test_for(self.game).measure(self._judge))

    def _await_strength(self) -> None:
        """Wait for a measurement that others make."""
        return

    def _is_measured(self) -> bool:
        """Whether the strength of this very iteration is known."""
        lines = (line for line in self.stats.lines() if line["kind"] == "strength")
        return any(line["iteration"] == self.iteration for line in lines)

    def _tell_strength(self, iteration: int, strength: Strength) -> None:
        self._show("strength", strength=strength)
        self.stats.append(
            "strength",
            iteration,
            seconds=self.seconds(),
            simulations=self.config.run.strength_simulations,
            strength=strength,
        )

    def _show(self, phase: str, **news: object) -> None:
        self.moment = replace(
            self.moment,
            phase=phase,
            iteration=self.iteration,
            progress=self.progress(),
            seconds=self.seconds(),
            notes=tuple(self._notes),
            **news,  # type: ignore[arg-type]
        )
        self.watch(self.moment)

    def _say(self, note: str) -> None:
        """Tell people, and the statistics, of something unexpected."""
        self._notes.append(note)
        self.stats.append("note", self.iteration, seconds=self.seconds(), note=note)

    def _tell(self, event: WorkerEvent) -> None:
        """Something happened to a worker."""
        self._say(f"{event.worker} {event.what}; {event.done}")

    def _save(self) -> None:
        """Write checkpoint and weights, then delete the shards no longer needed."""
        self._show("checkpoint")
        self.folder.save_weights(
            self.learner.play_net, iteration=self.iteration, step=self.learner.updates
        )
        self.boundary.save(self.folder.path)
        needed = {self._shard(number) for number in self.window.shard_numbers}
        for path in (self.folder.path / "replay").glob("*.shard"):
            if path not in needed:
                path.unlink()

    def _checkpoint(self) -> Checkpoint:
        position = RunPosition(
            iteration=self.iteration,
            seconds=self.seconds(),
            rows_made=self.window.rows_made,
            shards=self.window.shard_numbers,
            inference=self.evaluator.method,
            precision=self.learner.precision,
        )
        owed = self.learner.rows_owed + self._due * self.learner.config.batch_size
        learner = {**self.learner.state(), "rows_owed": np.array([owed])}
        return Checkpoint(position, copied(learner), copied(self._play_state()))

    def _play_state(self) -> Arrays:
        """The games under way."""
        return self.selfplay.state()

    def _shard(self, number: int) -> Path:
        return shard_path(self.folder.path / "replay", number)

    @abstractmethod
    def _build(self, position: RunPosition | None) -> None:
        """Make the parts; a run that resumes stood at `position`."""

    @abstractmethod
    def _restore(self, found: Checkpoint) -> None:
        """Fill the parts with what a checkpoint kept."""

    def _new_net(self) -> nn.Module:
        torch.manual_seed(self.config.run.seed)
        net = new_net(self.config.net, self.game)
        if first := self.folder.first_weights():
            net.load_state_dict(dict(first.state))
        return net.to(self.device)

    def _as_before(self, position: RunPosition | None) -> tuple[LearningConfig, str]:
        """How to learn and to evaluate; what was measured once on such a device is not again."""
        learning, inference = self.config.learning, self.config.run.inference
        methods = GPU_BACKENDS if self.device.type == "cuda" else CPU_BACKENDS
        if position is None or position.inference not in methods:
            return learning, inference
        if learning.precision == "auto":
            learning = replace(learning, precision=position.precision)
        if inference == "auto" and position.inference != "int8":  # which must be asked for
            inference = position.inference
        return learning, inference

    def _read_shards(self, position: RunPosition) -> Iterator[tuple[int, Samples]]:
        for number in position.shards:
            yield number, read_shard(self._shard(number), game=self.game)
