"""`setoption`: what a chess program may set, and how it is announced."""

from dataclasses import dataclass

from rookery import __version__


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
        from rookery.base import ConfigError

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
        from rookery.base import ConfigError

        if text.lower() not in ("true", "false"):
            raise ConfigError(f"expected true or false, got {text!r}")
        return text.lower() == "true"


KNOWN: dict[str, Spin | Check] = {
    "Hash": Spin(512, 16, 1 << 16),  # megabytes
    "Threads": Spin(0, 0, 1024),  # 0 as many as torch finds good
    "Batch": Spin(0, 0, 1024),  # 0 as many as a measurement finds good
    "MultiPV": Spin(1, 1, 500),
    "Move Overhead": Spin(100, 0, 10_000),  # milliseconds
    "Ponder": Check(False),
    "UCI_ShowWDL": Check(False),
    "UCI_AnalyseMode": Check(False),
}


def introduction(name: str) -> list[str]:
    """The lines that answer `uci`."""
    return [
        f"id name Rookery {__version__} ({name})",
        "id author the Rookery developers",
        *(f"option name {name} {option}" for name, option in KNOWN.items()),
        "uciok",
    ]


class Options:
    """The values in force."""

    def __init__(self) -> None:
        self.values: dict[str, int | bool] = {
            name: option.default for name, option in KNOWN.items()
        }

    def set(self, words: list[str]) -> str:
        """Obey the words after `setoption`: the name of the option, or ConfigError."""
        from rookery.base import ConfigError, UnknownName

        text = " ".join(words)
        if not text.startswith("name "):
            raise ConfigError(f"setoption name NAME value VALUE is expected, got {text!r}")
        wanted, _, value = text.removeprefix("name ").partition(" value ")
        names = {name.lower(): name for name in KNOWN}
        if wanted.strip().lower() not in names:
            raise UnknownName("option", wanted.strip(), KNOWN)
        name = names[wanted.strip().lower()]
        self.values[name] = KNOWN[name].read(value.strip())
        return name

    def reset(self, name: str) -> int | bool:
        """Give an option its default again."""
        self.values[name] = KNOWN[name].default
        return self.values[name]

    def number(self, name: str) -> int:
        """The value of an option."""
        return int(self.values[name])
