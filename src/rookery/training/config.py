"""The whole configuration of a run: every room's settings, composed, read and changed by name."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from math import inf
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rookery.base import ConfigError, UnknownName
from rookery.learning import LearningConfig
from rookery.nets import CPU_BACKENDS, GPU_BACKENDS, NetConfig
from rookery.replay import ReplayConfig
from rookery.search import SearchConfig
from rookery.selfplay import SelfPlayConfig

MODES = ("overlapped", "phased")


@dataclass(frozen=True)
class RunConfig:
    """How long a run goes on, and what it writes down on the way."""

    seed: int = 1
    """Everything random in the run follows from it."""
    minutes: float = 0.0
    """Ends after so much time, earlier stretches and measuring included; 0 = no limit."""
    iterations: int = 0
    """Ends after this many iterations; 0 = no limit."""
    moves: int = 16
    """Moves that every game makes in one iteration."""
    checkpoint_every: int = 10
    """Iterations between checkpoints."""
    strength_every: int = 20
    """Iterations between measurements of strength; 0 = never."""
    strength_simulations: int = 32
    """Simulations a move when strength is measured."""
    devices: str = "auto"
    """Where to train: cpu, cuda:0, several GPUs (cuda:0,cuda:1), or auto, a GPU if any."""
    actors: str = "0"
    """Processes that play beside the one that learns; 0 = none, unless there are several devices;
    auto = one a GPU, or on the CPU as many as the load asks for."""
    cluster: str = ""
    """The Ray cluster whose machines actors run on: its address, or local; empty = none."""
    mode: str = "overlapped"
    """With actors: overlapped (they play while it learns) or phased (they wait for it)."""
    max_lag: float = 1.0
    """Iterations of learning that may be due before actors have to wait."""
    inference: str = "auto"
    """How the net is evaluated; auto = the fastest that agrees with float32, tried at the start;
    int8 = in eight bits while it plays itself on a GPU, which is faster and less exact."""

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**63:
            raise ConfigError(f"run.seed must be in 0..2**63-1, got {self.seed}")
        for name, low in (
            ("minutes", 0),
            ("iterations", 0),
            ("moves", 1),
            ("checkpoint_every", 1),
            ("strength_every", 0),
            ("strength_simulations", 0),
            ("max_lag", 0),
        ):
            value = getattr(self, name)
            if not low <= value < inf:
                raise ConfigError(f"run.{name} must be {low} or more, got {value}")

        if not (self.actors == "auto" or self.actors.isdecimal()):
            raise ConfigError(f"run.actors must be a number or auto, got {self.actors!r}")
        if self.mode not in MODES:
            raise UnknownName("run.mode", self.mode, MODES)
        known = dict.fromkeys(("auto", *CPU_BACKENDS, *GPU_BACKENDS))
        if self.inference not in known:
            raise UnknownName("run.inference", self.inference, known)

    def has_actors(self) -> bool:
        """Whether games are played by actors, in processes of their own."""
        return self.actors != "0" or "," in self.devices or bool(self.cluster)

    def progress(self, seconds: float, iteration: int) -> float:
        """How much of a run that has come this far is done, from 0 to 1."""
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


def to_json(config: Config) -> str:
    """`config` as text, one setting a line."""
    return json.dumps(asdict(config), indent=2) + "\n"


def from_json(text: str) -> Config:
    """The config that `to_json` wrote; every unknown or wrong setting is an error."""
    try:
        tree = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"the config is not JSON ({error}); restore it from a copy") from error
    _check_names(Config, tree)
    try:
        return TypeAdapter(Config).validate_python(tree)
    except ValidationError as error:
        raise _out_of_range(error) from error


def apply(config: Config, assignments: Iterable[str]) -> Config:
    """`config` with settings changed by texts like `search.considered=8`, checked all together."""
    changes: dict[str, dict[str, Any]] = {}
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        if not equals:
            raise ConfigError(f"a setting looks like search.considered=8, got {assignment!r}")
        room, _, name = path.strip().partition(".")
        changes.setdefault(room, {})[name] = _value(config, path.strip(), text.strip())
    parts = {room: replace(getattr(config, room), **values) for room, values in changes.items()}
    return replace(config, **parts)


def _value(config: Config, path: str, text: str) -> Any:
    """What `text` says of a setting."""
    room, _, name = path.partition(".")
    part = getattr(config, room, None)
    known = setting_names()
    if path not in known or not is_dataclass(part):
        raise UnknownName("setting", path, known)
    kind: Any = next(f.type for f in fields(part) if f.name == name)
    try:
        return TypeAdapter(kind).validate_strings(text)
    except ValidationError as error:
        message = error.errors()[0]["msg"].lower()
        raise ConfigError(f"{path}: {message}, got {text!r}") from error


def setting_names() -> list[str]:
    """All settings that `--set` takes, as dotted paths."""
    rooms = [f for f in fields(Config) if is_dataclass(f.type)]
    return [f"{room.name}.{f.name}" for room in rooms for f in fields(room.type)]  # type: ignore[arg-type]


def _check_names(kind: Any, tree: object, prefix: str = "") -> None:
    known = {f.name: f.type for f in fields(kind)}
    if not isinstance(tree, dict):
        raise ConfigError(f"config {prefix.rstrip('.')}: expected settings by name, got {tree!r}")
    for name, value in tree.items():
        if name not in known:
            raise UnknownName("setting", prefix + name, [prefix + other for other in known])
        if is_dataclass(known[name]):
            _check_names(known[name], value, f"{prefix}{name}.")


def _out_of_range(error: ValidationError) -> ConfigError:
    first = error.errors()[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, ConfigError):  # from a room, which names the setting itself
        return cause
    if first["type"] == "missing":
        return ConfigError(f"config: {'.'.join(map(str, first['loc']))} is missing; restore it")
    path = ".".join(str(part) for part in first["loc"])
    return ConfigError(f"{path or 'config'}: {first['msg']}, got {first['input']!r}")
