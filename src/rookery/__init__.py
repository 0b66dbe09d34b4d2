"""Rookery trains board-game players from nothing by self-play.

    import rookery as rk

    board = rk.Board("connect4", "4453")
    found = rk.analyse(board, rk.load_net("connect4"), simulations=200)
    board.push(found.move)

The names below are imported when they are first used: `import rookery` alone is fast.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rookery.api import (
        Analysis,
        Board,
        Net,
        Run,
        analyse,
        load_net,
        match,
        open_run,
        plan,
        search,
        to_pettingzoo,
        train,
    )
    from rookery.base import ConfigError, IllegalPosition, RookeryError
    from rookery.games import Game, load_game
    from rookery.interface import plot
    from rookery.learning import register_loss
    from rookery.nets import register_net
    from rookery.training import Plan, Progress, Stopped

_PACKAGES = {
    **dict.fromkeys(("ConfigError", "IllegalPosition", "RookeryError"), "base"),
    **dict.fromkeys(("Game", "load_game"), "games"),
    "plot": "interface",
    "register_loss": "learning",
    "register_net": "nets",
    **dict.fromkeys(("Plan", "Progress", "Stopped"), "training"),
}
"""The packages of the names that are not of `api`."""

__all__ = [
    "Analysis",
    "Board",
    "ConfigError",
    "Game",
    "IllegalPosition",
    "Net",
    "Plan",
    "Progress",
    "RookeryError",
    "Run",
    "Stopped",
    "__version__",
    "analyse",
    "load_game",
    "load_net",
    "match",
    "open_run",
    "plan",
    "plot",
    "register_loss",
    "register_net",
    "search",
    "to_pettingzoo",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'rookery' has no attribute {name!r}")
    return getattr(import_module(f"rookery.{_PACKAGES.get(name, 'api')}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """This package, in which `search` is the function and not the package of the same name."""

    @property
    def search(self) -> Any:
        return __getattr__("search")

    @search.setter
    def search(self, package: ModuleType) -> None:
        """Ignore what an import of `rookery.search` sets."""


sys.modules[__name__].__class__ = _Package
