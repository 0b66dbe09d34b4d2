"""What a study varies: settings by name, and the values that each may take.

learning.learning_rate=1e-4..1e-2:log   any number between, as likely small as large
search.considered=2..16                 any whole number between, since the setting is one
learning.batch_size=64|128|256          one of these
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rookery.base import ConfigError, UnknownName
from rookery.games import Game
from rookery.training.config import Config, apply, setting_names

DIGITS = 4
"""Digits of a number that is tried, so that people can type it again."""
EXAMPLES = "learning.reuse=1..8, learning.learning_rate=1e-4..1e-2:log or search.considered=4|8|16"
_RANGE = re.compile(r"(?P<low>[-+.\deE]+?)\.\.(?P<high>[-+.\deE]+?)(?P<log>:log)?")


@dataclass(frozen=True)
class Between:
    """Numbers from `low` to `high`, both included."""

    name: str
    low: float
    high: float
    is_whole: bool
    is_log: bool

    def __str__(self) -> str:
        """The text that `read_space` takes."""
        return f"{self.name}={self.low:g}..{self.high:g}{':log' if self.is_log else ''}"

    def ends(self) -> tuple[str, ...]:
        """The values that must be possible, as `--set` takes them."""
        return self.setting(self.low), self.setting(self.high)

    def setting(self, value: float) -> str:
        """`value` as `--set` takes it."""
        return f"{self.name}={int(value) if self.is_whole else f'{value:.{DIGITS}g}'}"

    def usual(self, config: Config) -> float | None:
        """The value that `config` has, or the nearest one."""
        value = value_of(config, self.name)
        assert isinstance(value, int | float)
        return min(max(value, self.low), self.high)


@dataclass(frozen=True)
class OneOf:
    """A few values, as texts."""

    name: str
    choices: tuple[str, ...]

    def __str__(self) -> str:
        """The text that `read_space` takes."""
        return f"{self.name}={'|'.join(self.choices)}"

    def ends(self) -> tuple[str, ...]:
        """The values that must be possible, as `--set` takes them."""
        return tuple(map(self.setting, self.choices))

    def setting(self, value: str) -> str:
        """`value` as `--set` takes it."""
        return f"{self.name}={value}"

    def usual(self, config: Config) -> str | None:
        """The value that `config` has, if it is among these."""
        fitting = (c for c in self.choices if apply(config, [self.setting(c)]) == config)
        return next(fitting, None)


Dimension = Between | OneOf
Space = tuple[Dimension, ...]


def value_of(config: Config, name: str) -> object:
    """The setting called `name`, or UnknownName."""
    if name not in setting_names():
        raise UnknownName("setting", name, setting_names())
    room, _, setting = name.partition(".")
    return getattr(getattr(config, room), setting)


def read_space(texts: Iterable[str], config: Config) -> Space:
    """What the texts describe; an error if a value is none that `config` could have."""
    space = tuple(_read(text, config) for text in texts)
    names = [dimension.name for dimension in space]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"{twice[0]} is in the space twice; give it once")
    for dimension in space:
        for setting in dimension.ends():
            apply(config, [setting])
    return space


def default_space(config: Config, rules: Game, fixed: Sequence[str] = ()) -> Space:
    """What mostly decides how fast a run learns, around `config`; nothing that is `fixed`."""
    batch = config.learning.batch_size
    texts = {
        "learning.learning_rate": "3e-4..1e-2:log",
        "learning.batch_size": "|".join(str(size) for size in (batch // 2, batch, 2 * batch)),
        "learning.reuse": "1..8:log",
        "learning.result_mix": "0..1",
        "search.considered": f"2..{max(3, min(16, rules.max_legal))}",
        "search.c_scale": "0.1..2:log",
        "selfplay.opening_share": "0..1",
        "selfplay.opening_plies": f"1..{max(2, 2 * rules.max_plies // 3)}",
        "selfplay.temperature_plies": f"0..{rules.max_plies}",
    }
    return read_space((f"{name}={texts[name]}" for name in texts if name not in fixed), config)


def _read(text: str, config: Config) -> Dimension:
    name, equals, values = (part.strip() for part in text.partition("="))
    if not equals:
        raise ConfigError(f"a space looks like {EXAMPLES}, got {text!r}")
    value = value_of(config, name)
    if parts := _RANGE.fullmatch(values):
        return _between(name, value, parts)
    choices = tuple(choice.strip() for choice in values.split("|"))
    if len(set(choices)) < max(2, len(choices)):
        raise ConfigError(f"{name} needs a range or several values, as in {EXAMPLES}, got {text!r}")
    return OneOf(name, choices)


def _between(name: str, value: object, parts: re.Match[str]) -> Between:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{name} is no number, so it has no range; list values, as in a|b|c")
    try:
        low, high = float(parts["low"]), float(parts["high"])
    except ValueError as error:
        raise ConfigError(f"{name}: {parts[0]!r} is no range of numbers; try 0.1..0.5") from error
    is_log = parts["log"] is not None
    if not low < high or (is_log and low <= 0):
        least = "0 < low < high" if is_log else "low < high"
        raise ConfigError(f"{name}: a range has {least}, got {parts[0]!r}")
    is_whole = isinstance(value, int)
    if is_whole and not (low.is_integer() and high.is_integer()):
        raise ConfigError(f"{name} is a whole number, got the range {parts[0]!r}")
    return Between(name, low, high, is_whole, is_log)
