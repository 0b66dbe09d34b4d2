"""Ranges of numbers, which are checked where a number enters: in settings, options and names."""

from collections.abc import Mapping

from rookery.base.errors import ConfigError

Range = tuple[float, float]
"""The smallest and the largest accepted number."""
Ranges = Mapping[str, Range]

MAX_DIGITS = 30
"""Characters of a number; longer ones are beyond every range."""
MAX_PROCESSES = 1024
"""Actors, trainers or other workers that may be asked for."""
MAX_SIMULATIONS = 100_000
"""Simulations of one move that may be asked for, except under the clock of a UCI game."""
MAX_GAMES = 1_000_000
"""Games of a match or of self-play that may be asked for."""
MAX_PLIES = 1000
"""Random plies of an opening that may be asked for."""
MAX_ITERATION = 10**9
MAX_SEED = 2**63 - 1


def check_ranges(section: str, config: object, ranges: Ranges) -> None:
    """Raise ConfigError unless every number of a settings class is within its range."""
    for name, limits in ranges.items():
        value, default = getattr(config, name), getattr(type(config), name)
        whole = isinstance(default, int)
        kinds = (int,) if whole else (int, float)
        is_number = isinstance(value, kinds) and not isinstance(value, bool)
        if not (is_number and limits[0] <= value <= limits[1]):
            raise out_of_range(f"{section}.{name}", value, limits, whole=whole)


def read_whole(name: str, text: str, limits: Range, *, words: str = "") -> int:
    """Return the number that `text` is, or raise ConfigError; `words` are what else is accepted."""
    is_number = text.removeprefix("-").isdecimal() and len(text) < MAX_DIGITS
    if not (is_number and limits[0] <= int(text) <= limits[1]):
        raise out_of_range(name, text, limits, whole=True, words=words)
    return int(text)


def out_of_range(
    name: str, value: object, limits: Range, *, whole: bool, words: str = ""
) -> ConfigError:
    """Return the error for a number that is none or out of range."""
    kind = "a whole number" if whole else "a number"
    low, high = limits
    return ConfigError(f"{name} is {value!r}, expected {kind} from {low:,} to {high:,}{words}")
