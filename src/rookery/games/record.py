"""A game as people keep it: the players, the first position, the moves and the result."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class GameRecord:
    """One game, as `Game.read_games` returns it and `Game.write_games` takes it."""

    actions: tuple[int, ...]
    result: int
    """WIN, DRAW or LOSS for the first player, or ONGOING if the game was not finished."""
    start: str = ""
    """The first position in the notation of the game; empty for the usual one."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further facts about the game by name, such as White and Black."""
