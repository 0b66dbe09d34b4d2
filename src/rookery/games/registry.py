"""The games that ship with Rookery, and games of the user's own, loaded from a file."""

import importlib
import os
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from rookery.base import ConfigError, RookeryError, UnknownName
from rookery.games.game import Game, from_module, rules_digest

PACKAGE = __package__
SHIPPED = ("chess", "connect4", "tictactoe")

_own_games: dict[tuple[Path, str], Game] = {}
"""Games of rules files that were executed, by path and SHA-256."""


def game_names() -> tuple[str, ...]:
    """The games that ship with Rookery."""
    return SHIPPED


def load_game(name: str, digest: str | None = None) -> Game:
    """A shipped game by its name, or one of your own by the path of its rules file.

    With `digest`, a rules file is executed only if that is its SHA-256, else ConfigError. The bytes
    that are executed are those that were compared.
    """
    if is_shipped(name):
        return _shipped_game(name)
    if not name.endswith(".py"):
        raise UnknownName("game", name, SHIPPED)
    path = Path(os.path.abspath(name))
    if digest is not None and (path, digest) in _own_games:
        return _own_games[path, digest]
    source = read_rules(name)
    found = rules_digest(source)
    if digest not in (None, found):
        raise ConfigError(
            f"the rules file {name} is not the one that was asked for (its SHA-256 is "
            f"{found[:12]}, expected {str(digest)[:12]}); restore it, or copy it here"
        )
    if (path, found) not in _own_games:
        _own_games[path, found] = _load_own_game(path, source)
    return _own_games[path, found]


def read_rules(name: str) -> bytes:
    """Return the content of a rules file without executing it; ConfigError if there is none."""
    if not Path(name).is_file():
        raise ConfigError(f"there is no rules file {name}")
    return Path(name).read_bytes()


def is_loaded(digest: str) -> bool:
    """Whether this process has executed a rules file of this SHA-256 already."""
    return any(known == digest for _, known in _own_games)


@cache
def _shipped_game(name: str) -> Game:
    return from_module(import_rules(name))


def _load_own_game(path: Path, source: bytes) -> Game:
    """The game in a rules file, which may be broken in any way."""
    try:
        rules = from_module(load_rules(source, path), source)
    except RookeryError:
        raise
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{path} cannot be imported as rules ({reason}); mend it") from error
    if plain_name(rules.name) in SHIPPED:
        raise ConfigError(f"{path}: NAME is {rules.name}, which Rookery has; choose another")
    return rules


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


def load_rules(source: bytes, path: Path, name: str | None = None) -> ModuleType:
    """Execute `source`, the content of `path`, as a module, by default named after its digest.

    What Numba keeps on disk refers to the module by that name and must find it in the next process.
    Nothing else is read: an import would also take compiled code that lies beside the file.
    """
    module = ModuleType(name or f"{path.stem}.{rules_digest(source)[:12]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(compile(source, str(path), "exec"), vars(module))
    return module
