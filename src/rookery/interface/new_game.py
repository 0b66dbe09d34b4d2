"""Write the skeleton of a user's game: a rules file of a small game, and its tests."""

import keyword
from importlib.util import find_spec
from pathlib import Path

from rookery.base import ConfigError
from rookery.games import game_names

SKELETON = Path(__file__).parent / "skeleton"
PLACEHOLDER = "mygame"


def check_new_name(name: str) -> None:
    """Raise ConfigError if a rules file of this name could not be imported or loaded."""
    if not name.isascii() or not name.isidentifier() or keyword.iskeyword(name):
        raise ConfigError(f"{name!r} is no name for a game; expected letters, digits and _")
    if name in game_names():
        raise ConfigError(f"{name} is a game that ships with Rookery; choose another name")
    if not Path(f"{name}.py").exists() and find_spec(name) is not None:
        raise ConfigError(f"{name} is a module that Python can import; choose another name")


def write_skeleton(name: str, rules: Path, tests: Path) -> None:
    """Write the two files, which must not exist."""
    for path, source in ((rules, "rules.txt"), (tests, "test.txt")):
        with path.open("x", encoding="ascii") as file:
            file.write((SKELETON / source).read_text("ascii").replace(PLACEHOLDER, name))
