"""Training from Python: runs are folders, as on the command line."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from rookery.api.net import Net, load_net
from rookery.api.players import read_initial_weights
from rookery.base import ConfigError
from rookery.games import Game, is_cpu_only, load_game, rules_file
from rookery.gpu import find_devices
from rookery.training import (
    Config,
    Finding,
    Plan,
    ProgressCallback,
    RunFolder,
    Stats,
    Stopped,
    apply,
    check_hardware,
    plan_run,
    recipe_for,
)
from rookery.training import diagnose as diagnose_folder
from rookery.training import train as train_folder

Settings = Mapping[str, object] | Iterable[str]
Line = dict[str, Any]


def train(
    game: str,
    *,
    minutes: float | None = None,
    iterations: int | None = None,
    settings: Settings = (),
    run: str | Path | None = None,
    recipe: str | None = None,
    init: str | None = None,
    games: Sequence[Path] = (),
    devices: str = "auto",
    actors: str | None = None,
    cluster: str | None = None,
    progress: ProgressCallback = lambda progress: None,
    trust_rules: bool = False,
) -> "Run":
    """Train a game, by name or rules file, in a new run folder; return the run when it is over.

    It ends after `minutes` or `iterations`, at whichever comes first if both are given; without
    either, the recipe says when. `settings` are those of `--set`, as in {"net.width": 32}; the
    other arguments are the options of `rookery train`. `progress` is called several times per
    second and may raise `Stopped` to end the run, which keeps its results.
    """
    devices = devices_for(game, devices)
    start = start_from(game, recipe, devices)
    first = read_initial_weights(init, trust_rules=trust_rules) if init else None
    if first is not None:
        start = replace(start, net=first.weights.header.config)
    chosen = [*placement(devices, actors, cluster), *to_texts(settings)]
    config = apply(start, [*length_settings(minutes, iterations), *chosen])
    check_hardware(config)
    path = Path(run) if run is not None else free_folder(Path("runs"), load_game(start.game).name)
    folder = RunFolder.create(path, config, first, games=games)
    return _train(folder, progress)


def plan(
    game: str, *, minutes: float | None = None, recipe: str | None = None, devices: str = "auto"
) -> Plan:
    """Measure this machine and propose the settings of a run of `game`.

    `rk.train(game, minutes=minutes, settings=plan.settings)` uses them. Without `minutes` the run
    is as long as that of the recipe.
    """
    return plan_from(start_from(game, recipe, devices), minutes, devices=devices)


def plan_from(start: Config, minutes: float | None, *, devices: str) -> Plan:
    """Return a plan for a run of `minutes`, by default those of `start`, its initial settings."""
    config = apply(start, length_settings(minutes, None))
    if not config.run.minutes:
        raise ConfigError(
            f"recipe {start.recipe} has no length in minutes; give one, as in --minutes 10"
        )
    return plan_run(load_game(start.game), config, device=find_devices(devices)[0])


def open_run(path: str | Path, *, trust_rules: bool = False) -> "Run":
    """Return the run in a folder."""
    return Run(RunFolder(Path(path), trust_rules=trust_rules))


class Run:
    """A run folder: its settings, statistics and networks."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder

    @property
    def path(self) -> Path:
        """The run folder."""
        return self._folder.path

    @property
    def game(self) -> Game:
        """The game that it trains."""
        return self._folder.game

    @property
    def config(self) -> Config:
        """Its settings."""
        return self._folder.config

    @property
    def iterations(self) -> list[int]:
        """The iterations whose networks are saved, for `net`."""
        return self._folder.stored_weights()

    def stats(self) -> "RunStats":
        """Return the statistics so far."""
        return RunStats(Stats(self.path).lines())

    def net(self, iteration: int | None = None, *, devices: str = "cpu") -> Net:
        """Return its newest network, or that of one of its `iterations`."""
        name = str(self.path) if iteration is None else f"{self.path}@{iteration}"
        return load_net(name, devices=devices)

    def resume(
        self,
        *,
        minutes: float | None = None,
        iterations: int | None = None,
        settings: Settings = (),
        progress: ProgressCallback = lambda progress: None,
    ) -> "Run":
        """Train on from the last checkpoint, up to `minutes` or `iterations` in all."""
        changes = [*length_settings(minutes, iterations), *to_texts(settings)]
        with self._folder.lock():
            self._folder.change(apply(self._folder.config, changes))
        return _train(RunFolder(self.path), progress)

    def diagnose(self, *, quick: bool = False) -> list[Finding]:
        """Return what is wrong with the run, worst first; nothing if all seems well.

        `quick` reads the statistics only, and leaves out what takes several seconds: the network's
        values in recent games, a match of search against the network alone, the rules of an own
        game. A run that is too short to judge has one finding that says so.
        """
        return diagnose_folder(self._folder, quick=quick)

    def __repr__(self) -> str:
        return f"<Run {self.path} of {self.game.name}, {len(self.stats())} iterations>"


class RunStats(Sequence[Line]):
    """The statistics of a run: a dict for each iteration; `lines` has notes and events, too."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = list(lines)
        self._iterations = [line for line in self.lines if line["kind"] == "iteration"]

    def __len__(self) -> int:
        return len(self._iterations)

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> list[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | list[Line]:
        return self._iterations[index]

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """Return columns of numbers by name, as learning.losses.total; NaN where one is missing."""
        rows = [dict(_numbers("", line)) for line in self._iterations]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: np.array([row.get(name, np.nan) for row in rows]) for name in names}

    def to_pandas(self) -> Any:
        """Return a data frame with the columns of `to_numpy`; needs pandas."""
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise ConfigError("to_pandas needs pandas; install it, or use to_numpy") from error
        return pandas.DataFrame(self.to_numpy())

    def __repr__(self) -> str:
        return f"<RunStats of {len(self)} iterations>"


def devices_for(game: str, devices: str) -> str:
    """Return `devices`, or `cpu` for `auto` if the rules of `game` run on the CPU only."""
    return "cpu" if devices == "auto" and is_cpu_only(game) else devices


def start_from(game: str, recipe: str | None, devices: str) -> Config:
    """Return the initial settings of a new run of `game`, a name or a rules file."""
    device = find_devices(devices)[0]
    name = rules_file(game)
    name = os.path.realpath(name) if name.endswith(".py") else name
    load_game(name)
    return replace(recipe_for(name, recipe, on_gpu=device.type == "cuda"), game=name)


def placement(devices: str, actors: str | None, cluster: str | None) -> list[str]:
    """Return the settings of the given placement options."""
    given = {"devices": devices, "actors": actors, "cluster": cluster}
    return [f"run.{name}={value}" for name, value in given.items() if value]


def length_settings(minutes: float | None, iterations: int | None) -> list[str]:
    """Return the settings of the length of a run: either limit replaces both, unless it is 0."""
    if minutes is None and not iterations:
        return [] if iterations is None else ["run.iterations=0"]
    return [f"run.minutes={minutes or 0}", f"run.iterations={iterations or 0}"]


def free_folder(parent: Path, name: str) -> Path:
    """Return the first of NAME-1, NAME-2, ... that does not exist, as `folder_stem` writes it."""
    number, stem = 1, folder_stem(name)
    while os.path.lexists(parent / f"{stem}-{number}"):
        number += 1
    return parent / f"{stem}-{number}"


def folder_stem(name: str) -> str:
    """Return the name of a game for a folder: signs become hyphens."""
    return re.sub("[:=,;()]+", "-", name).strip("-")


def to_texts(settings: Settings) -> list[str]:
    """Return settings as `--set` takes them."""
    if isinstance(settings, Mapping):
        return [f"{name}={_text(value)}" for name, value in settings.items()]
    return list(settings)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _train(folder: RunFolder, progress: ProgressCallback) -> Run:
    with suppress(Stopped):  # it is raised here only before the first iteration
        train_folder(folder, progress)
    return Run(RunFolder(folder.path))


def _numbers(prefix: str, value: Any) -> Iterator[tuple[str, float]]:
    """Yield the numbers in nested dicts, with their paths."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _numbers(f"{prefix}.{name}" if prefix else name, part)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield prefix, float(value)
