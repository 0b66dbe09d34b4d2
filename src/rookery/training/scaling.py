"""Changes to the workers of a run that trains, as `rookery scale` asks for them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rookery.base import ConfigError, RookeryError
from rookery.gpu import find_devices
from rookery.training.actors.pool import ActorPool
from rookery.training.config import Config, apply
from rookery.training.parts import is_gpu, learning_devices
from rookery.training.run import Run
from rookery.training.store.requests import drop_old_requests, find_requests, read_request
from rookery.training.trainers.pool import TrainerPool
from rookery.training.trainers.sizing import check_trainers, count_trainers

POLL_SECONDS = 0.2
ACTORS, TRAINERS, DEVICES = "run.actors", "learning.workers", "run.devices"
INSTEAD = "stop the run and use `rookery resume` with"


@dataclass(frozen=True)
class WorkerCount:
    """How many workers of a kind there are."""

    ready: int
    size: int


@dataclass(frozen=True)
class _Change:
    """What a request changes."""

    config: Config
    names: set[str]
    """The settings that it names."""
    trainers: int
    """Trainers that there will be, 0 if they stay what they are."""


def plays_with_actors(config: Config) -> bool:
    """Return whether games are played by actors, or in the process that learns."""
    is_on_gpu = is_gpu(find_devices(config.run.devices)[0])
    return config.run.has_actors() or (is_on_gpu and config.learning.method != "single")


class Scaler:
    """Takes requests, applies them to the pools of a run, and answers."""

    def __init__(
        self,
        run: Run,
        *,
        actors: ActorPool | None,
        trainers: TrainerPool | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run, self._actors, self._trainers = run, actors, trainers
        self._clock, self._next_poll = clock, 0.0
        self._kept: set[Path] = set()
        """Requests that cannot be deleted, and were answered."""
        drop_old_requests(run.folder.path)

    def poll(self) -> None:
        """Carry out the requests that wait; not while trainers learn."""
        if self._clock() < self._next_poll:
            return
        self._next_poll = self._clock() + POLL_SECONDS
        for path in find_requests(self._run.folder.path):
            if path not in self._kept:
                self._carry_out(path)

    def _carry_out(self, path: Path) -> None:
        refused = ""
        try:
            settings = read_request(path)
            path.unlink()
            change = self._plan(settings)
        except FileNotFoundError:  # withdrawn
            return
        except (RookeryError, OSError) as error:
            refused = str(error)
            self._discard(path)
            self._run.note(f"not scaled: {refused}")
        else:
            self._apply(change)
        pools = {"actors": self._actors, "trainers": self._trainers}
        counts = {name: WorkerCount(*pool.count()) for name, pool in pools.items() if pool}
        self._run.record_scaling(path.stem, refused=refused, **counts)

    def _discard(self, path: Path) -> None:
        try:
            path.unlink(missing_ok=True)
        except OSError:
            self._kept.add(path)

    def _plan(self, settings: list[str]) -> _Change:
        """Return the change that a request asks for, or an error if it is impossible."""
        names = {setting.partition("=")[0].strip() for setting in settings}
        config = apply(self._run.config, settings)
        self._check(config, names)
        if self._trainers is None or names == {ACTORS}:
            return _Change(config, names, trainers=0)
        devices, game = learning_devices(config.run.devices), self._run.folder.game
        workers = count_trainers(config, self._trainers.play_net, game=game, devices=devices)
        return _Change(config, names, trainers=workers)

    def _apply(self, change: _Change) -> None:
        notes = []
        if self._actors is not None and change.names != {TRAINERS}:
            before = self._actors.describe()
            self._actors.scale(change.config.run)
            notes.append(f"from {before} to {self._actors.describe()}")
        if self._trainers is not None and change.trainers:
            before = self._trainers.describe()
            self._trainers.scale(change.trainers, learning_devices(change.config.run.devices))
            notes.append(f"from {before} to {self._trainers.describe()}")
        self._run.adapt(change.config, f"scaled {'; '.join(notes)}")

    def _check(self, config: Config, names: set[str]) -> None:
        """Refuse what cannot change while a run trains."""
        if not names:
            raise ConfigError("the request names no setting; use rookery scale")
        if unknown := names - {ACTORS, TRAINERS, DEVICES}:
            raise ConfigError(f"{min(unknown)} cannot change while a run trains; {INSTEAD} --set")
        devices, here = learning_devices(config.run.devices), self._run.device
        if devices[0] != here:
            raise ConfigError(
                f"the run learns on {here}, expected it as the first of the devices, got "
                f"{config.run.devices}; {INSTEAD} --devices"
            )
        check_trainers(config)
        if self._trainers is not None and self._trainers.is_alone and names != {ACTORS}:
            raise ConfigError(f"trainers cannot learn together here; {INSTEAD} other settings")
        if plays_with_actors(config) != (self._actors is not None):
            where = "actors" if self._actors is not None else "the process that learns"
            raise ConfigError(
                f"games are played by {where}, which cannot change while the run trains; "
                f"{INSTEAD} --actors"
            )
        if TRAINERS in names and self._trainers is None:
            raise ConfigError(
                "learning.method=single learns in one process and has no trainers; "
                f"{INSTEAD} --set learning.method=distributed"
            )
