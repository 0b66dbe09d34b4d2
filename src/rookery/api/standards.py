"""Games as other libraries know them."""

from typing import Any

from rookery.api.board import as_game
from rookery.base import import_extra
from rookery.games import Game


def to_pettingzoo(game: str | Game) -> Any:
    """Return a game as an environment of PettingZoo (extra `pettingzoo`): AEC, with action mask."""
    import_extra("pettingzoo", extra="pettingzoo", user="rk.to_pettingzoo")
    from rookery.api.environment import GameEnvironment

    return GameEnvironment(as_game(game))
