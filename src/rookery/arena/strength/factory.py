"""The strength test of a game."""

from rookery.arena.solvers import ExhaustiveSolver, load_positions
from rookery.arena.strength.exhaustive_test import ExhaustiveTest
from rookery.arena.strength.match_test import MatchTest
from rookery.arena.strength.position_test import PositionTest
from rookery.arena.strength.strength_test import StrengthTest
from rookery.games import Game


def strength_test_for(game: Game) -> StrengthTest:
    """Return the most accurate test for `game`: exact for solved games, else matches."""
    if game.name == "connect4":
        return PositionTest(load_positions())
    if game.name == "tictactoe":
        return ExhaustiveTest(game, ExhaustiveSolver(game))
    return MatchTest(game)
