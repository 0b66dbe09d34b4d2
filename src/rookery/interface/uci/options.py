"""`setoption`: what a chess program may set, and how it is announced."""

from dataclasses import dataclass, field

from rookery.base import ConfigError, UnknownName


@dataclass(frozen=True)
class Spin:
    """A whole number."""

    default: int
    least: int
    most: int

    def __str__(self) -> str:
        return f"type spin default {self.default} min {self.least} max {self.most}"

    def read(self, text: str) -> int:
        """The number, or ConfigError."""
        number = text.removeprefix("-")
        if not (number.isdecimal() and len(number) < 12 and self.least <= int(text) <= self.most):
            raise ConfigError(f"expected a number from {self.least} to {self.most}, got {text!r}")
        return int(text)


@dataclass(frozen=True)
class Check:
    """Yes or no."""

    default: bool

    def __str__(self) -> str:
        return f"type check default {str(self.default).lower()}"

    def read(self, text: str) -> bool:
        """True or false, or ConfigError."""
        if text.lower() not in ("true", "false"):
            raise ConfigError(f"expected true or false, got {text!r}")
        return text.lower() == "true"


def options(threads: int) -> dict[str, Spin | Check]:
    """All options; `threads` is how many the net has by itself."""
    return {
        "Hash": Spin(512, 16, 1 << 16),
        "Threads": Spin(threads, 1, 1024),
        "Batch": Spin(0, 0, 1024),
        "MultiPV": Spin(1, 1, 500),
        "Move Overhead": Spin(100, 0, 10_000),
        "Ponder": Check(False),
        "UCI_ShowWDL": Check(False),
        "UCI_AnalyseMode": Check(False),
    }


@dataclass
class Options:
    """The values in force."""

    known: dict[str, Spin | Check]
    values: dict[str, int | bool] = field(init=False)

    def __post_init__(self) -> None:
        self.values = {name: option.default for name, option in self.known.items()}

    def announce(self) -> list[str]:
        """The lines that answer `uci`."""
        return [f"option name {name} {option}" for name, option in self.known.items()]

    def set(self, words: list[str]) -> str:
        """Obey the words after `setoption`: the name of the option, or ConfigError."""
        text = " ".join(words)
        if not text.startswith("name "):
            raise ConfigError(f"setoption name NAME value VALUE is expected, got {text!r}")
        wanted, _, value = text.removeprefix("name ").partition(" value ")
        names = {name.lower(): name for name in self.known}
        if wanted.strip().lower() not in names:
            raise UnknownName("option", wanted.strip(), self.known)
        name = names[wanted.strip().lower()]
        self.values[name] = self.known[name].read(value.strip())
        return name

    def number(self, name: str) -> int:
        """The value of an option."""
        return int(self.values[name])
