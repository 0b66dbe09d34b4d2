"""The games that ship with Rookery, and games of the user's own, loaded from a file."""

import hashlib
import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from rookery.base import ConfigError, RookeryError, UnknownName
from rookery.games.game import Game, from_module

PACKAGE = __package__
SHIPPED = ("chess", "connect4", "tictactoe")


def game_names() -> tuple[str, ...]:
    """The games that ship with Rookery."""
    return SHIPPED


@cache
def game(name: str) -> Game:
    """A shipped game by its name, or one of your own by the path of its rules file."""
    if is_shipped(name):
        return from_module(import_rules(name))
    if not name.endswith(".py"):
        raise UnknownName("game", name, SHIPPED)
    if not Path(name).is_file():
        raise ConfigError(f"there is no rules file {name}")
    rules = _own_game(Path(name))
    if plain_name(rules.name) in SHIPPED:
        raise ConfigError(f"{name}: NAME is {rules.name}, which Rookery has; choose another")
    return rules


def _own_game(path: Path) -> Game:
    """The game in a rules file, which may be broken in any way."""
    try:
        return from_module(load_file(path), path.read_bytes())
    except RookeryError:
        raise
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{path} cannot be imported as rules ({reason}); mend it") from error


def is_shipped(name: str) -> bool:
    """Whether `name` is a shipped game, or looks like a variant of one."""
    plain, _, option = name.partition(":")
    return plain in SHIPPED and (plain == name or "=" in option)


def plain_name(name: str) -> str:
    """The game that `name` is a variant of: of `chess:history=3` it is chess."""
    return name.partition(":")[0]


def import_rules(name: str) -> ModuleType:
    """The rules of a shipped game, or of a variant that they make."""
    plain, _, option = name.partition(":")
    module = importlib.import_module(f"{PACKAGE}.{plain}")
    if plain == name:
        return module
    if not hasattr(module, "variant"):
        raise UnknownName("game", name, SHIPPED)
    rules: ModuleType = module.variant(option)
    return rules


def load_file(path: Path, name: str | None = None) -> ModuleType:
    """Import the Python file at `path`, by default under a name that tells its content.

    What Numba keeps on disk refers to the module by that name and must find it in the next process.
    """
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    spec = importlib.util.spec_from_file_location(name or f"{path.stem}.{digest}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
