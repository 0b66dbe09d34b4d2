"""What a shell completes: games, rules files, run folders, recipes and settings.

Where nothing fits, the shell completes names of files, as it does by default.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

RUNS = "runs/"
"""Where runs are by default."""
NAMES = Path(__file__).with_name("completions.json")
"""Games, recipes and settings; importing the packages that declare them would take seconds."""


def complete_run(incomplete: str) -> list[str]:
    """Return the run folders that start with `incomplete`."""
    places = [incomplete] if "/" in incomplete else [incomplete, RUNS]
    return [path for place in places for path in _folders(place) if _is_run(path)]


def complete_game(incomplete: str) -> list[str]:
    """Return the games and the rules files that start with `incomplete`."""
    return [*_games(incomplete), *(path for path in _paths(incomplete) if path.endswith(".py"))]


def complete_net(incomplete: str) -> list[str]:
    """Return the run folders, and the games, that start with `incomplete`."""
    return [*_games(incomplete), *complete_run(incomplete)]


def complete_recipe(incomplete: str) -> list[str]:
    """Return the names of recipes."""
    return _names("recipes")


def complete_setting(incomplete: str) -> list[str]:
    """Return all settings with their defaults, to be changed."""
    return _names("settings")


@cache
def _names(kind: str) -> list[str]:
    return list(json.loads(NAMES.read_text(encoding="utf-8"))[kind])


def _games(incomplete: str) -> list[str]:
    return [name for name in _names("games") if name.startswith(incomplete)]


def _folders(start: str) -> list[str]:
    return [path for path in _paths(start) if Path(path).is_dir()]


def _paths(start: str) -> Iterator[str]:
    """Yield the paths that start with `start`, written as the user began them."""
    folder, slash, name = start.rpartition("/")
    try:
        found = sorted(each.name for each in Path(f"{folder}{slash}" or ".").expanduser().iterdir())
    except OSError:
        return
    yield from (f"{folder}{slash}{each}" for each in found if each.startswith(name))


def _is_run(path: str) -> bool:
    return (Path(path).expanduser() / "run.json").is_file()
