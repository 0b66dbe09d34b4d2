"""The configuration of a run: the settings of all packages, read and changed by name."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from reprlib import repr as short
from typing import Any, ClassVar

from pydantic import TypeAdapter, ValidationError

from rookery.arena import is_named_player
from rookery.base import (
    MAX_GAMES,
    MAX_ITERATION,
    MAX_PROCESSES,
    MAX_SEED,
    MAX_SIMULATIONS,
    ConfigError,
    Ranges,
    UnknownName,
    check_ranges,
    out_of_range,
    read_whole,
)
from rookery.gpu import find_devices
from rookery.learning import LearningConfig
from rookery.nets import CPU_BACKENDS, GPU_BACKENDS, MPS_BACKENDS, NetConfig, check_parts
from rookery.replay import ReplayConfig
from rookery.search import SearchConfig
from rookery.selfplay import SelfPlayConfig
from rookery.training.fallbacks import allowed_kinds
from rookery.workers import RestartPolicy

MODES = ("overlapped", "phased")


@dataclass(frozen=True)
class RunConfig:
    """How long a run takes, where it runs, and what it records."""

    RANGES: ClassVar[Ranges] = {
        "seed": (0, MAX_SEED),
        "minutes": (0, 10_000_000),
        "iterations": (0, MAX_ITERATION),
        "moves": (1, 100_000),
        "checkpoint_every": (1, MAX_ITERATION),
        "keep_checkpoints": (1, 10_000),
        "strength_every": (0, MAX_ITERATION),
        "strength_simulations": (0, MAX_SIMULATIONS),
        "elo_games": (0, MAX_GAMES),
        "elo_simulations": (0, MAX_SIMULATIONS),
        "elo_share": (0, 1),
        "max_lag": (0, 1000),
        "cooldown_seconds": (0, 10_000_000),
        "heartbeat_seconds": (0.01, 1000),
        "silence_seconds": (0.1, 100_000),
        "restarts": (0, 1_000_000),
        "restart_minutes": (0.001, 1_000_000),
    }

    seed: int = 1
    """Random seed of the run: of the first weights, self-play, search and batches."""
    minutes: float = 0.0
    """Total length of the run in minutes, earlier sessions and measuring included; 0 = no limit."""
    iterations: int = 0
    """Iterations after which the run ends; 0 = no limit."""
    moves: int = 16
    """Moves that every game makes in one iteration."""
    checkpoint_every: int = 10
    """Iterations between checkpoints."""
    keep_checkpoints: int = 1
    """Checkpoints that stay, the newest included; `rookery resume RUN --at` continues from one."""
    strength_every: int = 20
    """Iterations between measurements of strength; 0 = never."""
    strength_simulations: int = 32
    """Simulations per move when strength is measured."""
    elo_games: int = 64
    """Games that each measurement of strength plays at most, against earlier networks of the run
    and fixed anchors, for Elo over the iterations; 0 = none."""
    elo_simulations: int = 16
    """Simulations per move in these games."""
    elo_share: float = 0.05
    """Share of the run's time that these games may take; with less time left, fewer are played."""
    elo_anchors: str = "auto"
    """Fixed opponents in these games, as in random,minimax:2,stockfish:1350; auto = random and
    minimax players."""
    devices: str = "auto"
    """Where to train: cpu, cuda:0, several GPUs (cuda:0,cuda:1), all = all GPUs of the machine,
    mps = an Apple GPU, which evaluates networks only, or auto = a GPU if any."""
    actors: str = "0"
    """Self-play processes besides the learner; 0 = none, unless there are several devices;
    auto = as many as the load needs, at most one per core, two per GPU of this machine or one per
    GPU of a cluster. On a cluster 0 counts as auto."""
    cluster: str = ""
    """Address of the Ray cluster that actors and trainers run on, or local; empty = none."""
    mode: str = "overlapped"
    """On a CPU, and with actors: overlapped (play while the learner learns) or phased (take
    turns)."""
    max_lag: float = 1.0
    """Iterations of games that may wait for the learner before actors pause."""
    cooldown_seconds: float = 0.0
    """Seconds after which an actor or trainer that failed too often and was dropped is started
    again; 0 = never."""
    heartbeat_seconds: float = 0.5
    """Seconds between two heartbeats of an actor or trainer."""
    silence_seconds: float = 20.0
    """Seconds without a heartbeat after which an actor counts as hung and is restarted; for
    trainers see learning.silence_seconds."""
    restarts: int = 5
    """Restarts of one actor or trainer within restart_minutes; it is dropped when it fails once
    more."""
    restart_minutes: float = 2.0
    """Minutes at work after which a failure of an actor or trainer is forgotten."""
    inference: str = "auto"
    """How the network is evaluated; auto = the fastest backend that agrees with float32, measured
    at the start; int8 = eight bits in self-play, which is faster and less exact; fastest = int8
    where it is faster (measured on a CPU; on a GPU from net.width 128 on, if it is installed),
    otherwise auto."""
    fallback: str = "all"
    """What the run may do instead of ending with an error: all, none, or some of device (train on
    the CPU if auto finds no GPU), inference (use a slower backend), memory (play fewer games or
    split batches), method (learn in one process if trainers cannot learn together) and workers
    (continue without workers that fail too often), as in memory,workers."""

    def __post_init__(self) -> None:
        check_ranges("run", self, self.RANGES)
        allowed_kinds(self.fallback)
        if self.actors != "auto":
            read_whole("run.actors", self.actors, (0, MAX_PROCESSES), words=", or auto")
        if self.mode not in MODES:
            raise UnknownName("run.mode", self.mode, MODES)
        names = [name.strip() for name in self.elo_anchors.split(",")]
        if self.elo_anchors != "auto" and not all(map(is_named_player, names)):
            raise ConfigError(
                f"run.elo_anchors is {short(self.elo_anchors)}, expected auto, or players such as "
                "random,minimax:2"
            )
        known = dict.fromkeys(("auto", "fastest", *CPU_BACKENDS, *GPU_BACKENDS, *MPS_BACKENDS))
        if self.inference not in known:
            raise UnknownName("run.inference", self.inference, known)
        self.check_silence("run.silence_seconds", self.silence_seconds)

    @property
    def exact_inference(self) -> str:
        """The backend outside of self-play, which 8 bits are for."""
        return "auto" if self.inference in ("int8", "fastest") else self.inference

    def has_actors(self) -> bool:
        """Return whether games are played by actors."""
        is_distributed = self.actors != "0" or bool(self.cluster)
        return is_distributed or len(find_devices(self.devices)) > 1

    def check_silence(self, name: str, seconds: float) -> None:
        """Refuse a limit that workers exceed between two heartbeats."""
        if seconds < 2 * self.heartbeat_seconds:
            raise ConfigError(
                f"{name} is {seconds:g}, expected at least 2 * run.heartbeat_seconds, which is "
                f"{2 * self.heartbeat_seconds:g}"
            )

    def restart_policy(self) -> RestartPolicy:
        """Return how long a pool waits for its workers, and how often it restarts them."""
        return RestartPolicy(
            silence_seconds=self.silence_seconds,
            failures=self.restarts,
            period_seconds=60 * self.restart_minutes,
            cooldown_seconds=self.cooldown_seconds,
        )

    def progress(self, seconds: float, iteration: int) -> float:
        """Return the share of the run that is done after `seconds` and `iteration`s."""
        by_time = seconds / (60 * self.minutes) if self.minutes else 0.0
        by_count = iteration / self.iterations if self.iterations else 0.0
        return min(1.0, max(by_time, by_count))


@dataclass(frozen=True)
class Config:
    """All settings of a run."""

    game: str
    """Name of the game, or the path of its rules file."""
    recipe: str
    """The recipe it was derived from."""
    run: RunConfig = field(default_factory=RunConfig)
    net: NetConfig = field(default_factory=NetConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    selfplay: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    learning: LearningConfig = field(default_factory=LearningConfig)

    def __post_init__(self) -> None:
        check_parts(self.learning.frozen, self.net)
        if self.net.members > 1 and self.learning.method != "single":
            raise ConfigError(
                f"an ensemble of net.members={self.net.members} needs learning.method=single, got "
                f"{self.learning.method}"
            )
        self.run.check_silence("learning.silence_seconds", self.learning.silence_seconds)
        if self.replay.sharding != "full":
            self._check_split()

    def _check_split(self) -> None:
        """Refuse to split the window between trainers that need all rows, or equal batches."""
        if self.learning.method == "pipeline":
            need = "learning.method=pipeline: every trainer needs every row"
        elif self.learning.compiled:
            need = "learning.compiled: the trainers' shares of a batch vary"
        else:
            return
        raise ConfigError(f"replay.sharding is split, expected full with {need}")


def to_json(config: Config) -> str:
    """Return `config` as text, one setting per line."""
    return json.dumps(asdict(config), indent=2) + "\n"


def from_json(text: str) -> Config:
    """Return the config that `to_json` wrote; refuse unknown and invalid settings."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:  # too many digits or levels are no JSON here
        raise ConfigError(f"the config is not JSON ({error}); restore it from a copy") from error
    _check_names(Config, tree)
    try:
        return TypeAdapter(Config).validate_python(tree)
    except ValidationError as error:
        raise _out_of_range(error) from error


def apply(config: Config, assignments: Iterable[str]) -> Config:
    """Return `config` with settings changed by texts like `search.considered=8`."""
    changes: dict[str, dict[str, Any]] = {}
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        if not equals:
            raise ConfigError(f"expected a setting like search.considered=8, got {assignment!r}")
        section, _, name = path.strip().partition(".")
        changes.setdefault(section, {})[name] = _value(path.strip(), text.strip())
    sections = {name: replace(getattr(config, name), **new) for name, new in changes.items()}
    return replace(config, **sections)


def _value(path: str, text: str) -> Any:
    kinds = _setting_types()
    if path not in kinds:
        raise UnknownName("setting", path, kinds)
    try:
        return TypeAdapter(kinds[path]).validate_strings(text)
    except ValidationError as error:
        section, _, name = path.partition(".")
        if limits := _section_types()[section].RANGES.get(name):
            raise out_of_range(path, text, limits, whole=kinds[path] is int) from error
        message = error.errors()[0]["msg"].lower()
        raise ConfigError(f"{path}: {message}, got {text!r}") from error


def setting_names() -> list[str]:
    """Return all settings that `--set` takes, as dotted names."""
    return list(_setting_types())


def _setting_types() -> dict[str, Any]:
    sections = _section_types()
    return {f"{name}.{f.name}": f.type for name, kind in sections.items() for f in fields(kind)}


def _section_types() -> dict[str, Any]:
    return {f.name: f.type for f in fields(Config) if is_dataclass(f.type)}


def _check_names(kind: Any, tree: object, prefix: str = "") -> None:
    known = {f.name: f.type for f in fields(kind)}
    if not isinstance(tree, dict):
        raise ConfigError(
            f"config {prefix.rstrip('.')}: expected settings by name, got {short(tree)}"
        )
    for name, value in tree.items():
        if name not in known:
            raise UnknownName("setting", prefix + name, [prefix + other for other in known])
        if is_dataclass(known[name]):
            _check_names(known[name], value, f"{prefix}{name}.")


def _out_of_range(error: ValidationError) -> ConfigError:
    first = error.errors()[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, ConfigError):  # from a package, which names the setting itself
        return cause
    path = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return ConfigError(f"config: {path} is missing; restore it")
    return ConfigError(f"{path or 'config'}: {first['msg']}, got {short(first['input'])}")
