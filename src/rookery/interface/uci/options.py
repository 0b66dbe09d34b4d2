"""The options that a chess program may set, and their announcement."""

from dataclasses import dataclass

from rookery import __version__


@dataclass(frozen=True)
class Spin:
    """A whole number."""

    default: int
    minimum: int
    maximum: int

    def __str__(self) -> str:
        return f"type spin default {self.default} min {self.minimum} max {self.maximum}"

    def read(self, text: str) -> int:
        """Return the number, or raise ConfigError."""
        from rookery.base import ConfigError

        digits, low, high = text.removeprefix("-"), self.minimum, self.maximum
        if not (digits.isdecimal() and len(digits) < 12 and low <= int(text) <= high):
            raise ConfigError(f"expected a number from {low} to {high}, got {text!r}")
        return int(text)


@dataclass(frozen=True)
class Check:
    """A switch."""

    default: bool

    def __str__(self) -> str:
        return f"type check default {str(self.default).lower()}"

    def read(self, text: str) -> bool:
        """Return the value, or raise ConfigError."""
        from rookery.base import ConfigError

        if text.lower() not in ("true", "false"):
            raise ConfigError(f"expected true or false, got {text!r}")
        return text.lower() == "true"


KNOWN: dict[str, Spin | Check] = {
    "Hash": Spin(512, 16, 1 << 16),  # megabytes
    "Threads": Spin(0, 0, 1024),  # 0 = torch's default
    "Batch": Spin(0, 0, 1024),  # 0 = chosen by a measurement
    "MultiPV": Spin(1, 1, 500),
    "Move Overhead": Spin(100, 0, 10_000),  # milliseconds
    "Ponder": Check(False),
    "UCI_ShowWDL": Check(False),
    "UCI_AnalyseMode": Check(False),
}


def introduction(name: str) -> list[str]:
    """Return the lines that answer `uci`."""
    return [
        f"id name Rookery {__version__} ({name})",
        "id author the Rookery developers",
        *(f"option name {name} {option}" for name, option in KNOWN.items()),
        "uciok",
    ]


class Options:
    """The current values."""

    def __init__(self) -> None:
        self.values: dict[str, int | bool] = {
            name: option.default for name, option in KNOWN.items()
        }

    def set(self, words: list[str]) -> str:
        """Apply the words after `setoption`; return its name, or raise ConfigError."""
        from rookery.base import ConfigError, UnknownName

        text = " ".join(words)
        if not text.startswith("name "):
            raise ConfigError(f"expected setoption name NAME value VALUE, got setoption {text}")
        wanted, _, value = text.removeprefix("name ").partition(" value ")
        names = {name.lower(): name for name in KNOWN}
        if wanted.strip().lower() not in names:
            raise UnknownName("option", wanted.strip(), KNOWN)
        name = names[wanted.strip().lower()]
        self.values[name] = KNOWN[name].read(value.strip())
        return name

    def reset(self, name: str) -> int | bool:
        """Set an option to its default, and return that."""
        self.values[name] = KNOWN[name].default
        return self.values[name]

    def number(self, name: str) -> int:
        """Return the value of an option."""
        return int(self.values[name])
