"""Strength tests: moves compared with perfect play in solved games, else matches."""

from rookery.arena.solvers.exhaustive import ExhaustiveSolver
from rookery.arena.solvers.positions import load_positions
from rookery.arena.strength.match_test import MatchTest
from rookery.arena.strength.solved import ExhaustiveTest, PositionTest
from rookery.arena.strength.strength_test import StrengthTest
from rookery.games import Game


def strength_test_for(game: Game) -> StrengthTest:
    """Return the most accurate test for `game`: exact for solved games, else matches."""
    if game.name == "connect4":
        return PositionTest(load_positions())
    if game.name == "tictactoe":
        return ExhaustiveTest(game, ExhaustiveSolver(game))
    return MatchTest(game)
