"""Strength tests: moves compared with perfect play in solved games, else matches."""

from rookery.arena.strength.exhaustive_test import (
    ExhaustiveTest,
    play_every_reply,
    reachable_states,
)
from rookery.arena.strength.factory import strength_test_for
from rookery.arena.strength.match_test import MatchTest
from rookery.arena.strength.position_test import PositionTest
from rookery.arena.strength.strength_test import (
    PartResult,
    Percentage,
    Strength,
    StrengthRow,
    StrengthTest,
)

__all__ = [
    "ExhaustiveTest",
    "MatchTest",
    "PartResult",
    "Percentage",
    "PositionTest",
    "Strength",
    "StrengthRow",
    "StrengthTest",
    "play_every_reply",
    "reachable_states",
    "strength_test_for",
]
