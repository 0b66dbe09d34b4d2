"""Load the games that ship with Rookery, and games of users: files, modules, installed packages."""

import importlib
import importlib.util
import os
import sys
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from rookery.base import ConfigError, RookeryError, UnknownName
from rookery.games.defaults import fill_defaults
from rookery.games.game import Game, from_module, rules_digest

PACKAGE = __package__
SHIPPED = ("chess", "connect4", "tictactoe")
OPENSPIEL = "openspiel"
"""Before the colon in the name of a game of OpenSpiel, as in `openspiel:tic_tac_toe`."""
GROUP = "rookery.games"
"""Entry points by which packages offer games: NAME = MODULE, whose file has the rules."""

_own_games: dict[tuple[Path, str], Game] = {}
"""Games whose rules files were executed, by path and SHA-256."""


def game_names() -> tuple[str, ...]:
    """Return the names of the games that ship with Rookery."""
    return SHIPPED


def load_game(name: str | ModuleType, digest: str | None = None) -> Game:
    """Return a shipped game or one of an installed package by its name, or a game of the user.

    The latter is given as the path of its rules file, or as the imported module.
    With `digest`, execute a rules file only if this is its SHA-256, else raise ConfigError. The
    file is read once, so that the bytes executed are the bytes compared.
    """
    name = rules_file(name) if isinstance(name, str) else str(name.__file__)
    if is_shipped(name):
        return _shipped_game(name)
    if not name.endswith(".py"):
        raise UnknownName("game", name, (*SHIPPED, *_installed()))
    path = Path(os.path.abspath(name))
    if digest is not None and (path, digest) in _own_games:
        return _own_games[path, digest]
    source = read_rules(name)
    found = rules_digest(source)
    if digest not in (None, found):
        raise ConfigError(
            f"the rules file {name} is not the expected one: its SHA-256 is {found[:12]}, not "
            f"{str(digest)[:12]}; restore it, or copy the right file here"
        )
    if (path, found) not in _own_games:
        _own_games[path, found] = _load_own_game(path, source)
    return _own_games[path, found]


def rules_file(name: str) -> str:
    """Return the rules file of a game of an installed package; any other name as it is."""
    module = None if is_shipped(name) else _installed().get(name)
    if module is None:
        return name
    try:
        found = importlib.util.find_spec(module)
    except ImportError:
        found = None
    if found is None or not found.has_location:
        raise ConfigError(f"the game {name} has no rules: there is no module {module}")
    return str(found.origin)


def _installed() -> dict[str, str]:
    """Return the modules of games of installed packages, by name."""
    return {entry.name: entry.module for entry in entry_points(group=GROUP)}


def read_rules(name: str) -> bytes:
    """Return the content of a rules file without executing it, or raise ConfigError."""
    if not Path(name).is_file():
        raise ConfigError(f"there is no rules file {name}")
    return Path(name).read_bytes()


def is_loaded(digest: str) -> bool:
    """Return whether this process has already executed a rules file with this SHA-256."""
    return any(known == digest for _, known in _own_games)


@cache
def _shipped_game(name: str) -> Game:
    rules = import_rules(name)
    return from_module(rules) if name == rules.NAME else _shipped_game(rules.NAME)


def _load_own_game(path: Path, source: bytes) -> Game:
    try:
        game = from_module(load_rules(source, path), source)
    except RookeryError:
        raise
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{path} could not be imported: {reason}") from error
    if plain_name(game.name) in (*SHIPPED, OPENSPIEL):
        raise ConfigError(
            f"{path}: NAME is {game.name}, the name of a shipped game; choose another"
        )
    return game


def is_shipped(name: str) -> bool:
    """Return whether `name` is a shipped game or has the form of a variant of one.

    The rules of OpenSpiel's games ship with Rookery in this sense: they are no file of a user.
    """
    plain, _, option = name.partition(":")
    if plain == OPENSPIEL:
        return True
    return plain in SHIPPED and (plain == name or "=" in option)


def is_cpu_only(name: str) -> bool:
    """Return whether the rules of the game called `name` cannot run on a GPU."""
    return plain_name(name) == OPENSPIEL


def plain_name(name: str) -> str:
    """Return the name without a variant: `chess` for `chess:history=3`."""
    return name.partition(":")[0]


def import_rules(name: str) -> ModuleType:
    """Return the rules module of a shipped game or of a variant."""
    plain, _, option = name.partition(":")
    module = importlib.import_module(f"{PACKAGE}.{plain}")
    if plain == name and plain != OPENSPIEL:
        return module
    if not hasattr(module, "variant"):
        raise UnknownName("game", name, SHIPPED)
    rules: ModuleType = module.variant(option)
    return rules


def load_rules(source: bytes, path: Path, name: str | None = None) -> ModuleType:
    """Execute `source`, the content of `path`, as a module and return it, with its defaults.

    The default name contains the digest: Numba's cache on disk refers to the module by its name,
    in later processes too. An import would not do, since it may execute bytecode from elsewhere.
    """
    module = ModuleType(name or f"{path.stem}.{rules_digest(source)[:12]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(compile(source, str(path), "exec"), vars(module))
    fill_defaults(module)
    return module
