"""Games as other libraries know them."""

from typing import Any

from rookery.base import import_extra
from rookery.games import Game, load_game


def to_pettingzoo(game: str | Game) -> Any:
    """Return a game as an environment of PettingZoo (extra `pettingzoo`): AEC, with action mask."""
    import_extra("pettingzoo", extra="pettingzoo", user="rk.to_pettingzoo")
    from rookery.api.environment import GameEnvironment

    return GameEnvironment(load_game(game) if isinstance(game, str) else game)
