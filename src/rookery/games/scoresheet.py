"""A game as people keep it: who played, from where, which moves, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rookery.games.game import Action


@dataclass(frozen=True)
class ScoreSheet:
    """One game; rules that have a notation for games offer `write_games` and `read_games`."""

    actions: tuple[Action, ...]
    result: int
    """WIN, DRAW or LOSS for who moves first in the usual start; ONGOING if it has no end."""
    start: str = ""
    """The position it began with, as the rules read it; empty for the usual one."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """What else is known, such as White and Black."""
