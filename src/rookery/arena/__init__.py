"""Players, matches between them, Elo ratings, and strength tests."""

from rookery.arena.lockstep import Histories, sample_boards
from rookery.arena.match import (
    MatchPlan,
    MatchReport,
    WinDrawLoss,
    part_seed,
    play_part,
    report_match,
)
from rookery.arena.openings import has_book
from rookery.arena.pairs import MatchGame
from rookery.arena.player import FORFEIT, Player, choose_moves, faults_of
from rookery.arena.players.minimax import MinimaxPlayer
from rookery.arena.players.named import is_named_player, named_player
from rookery.arena.players.random import RandomPlayer
from rookery.arena.players.search import SearchPlayer
from rookery.arena.players.solver import Solver, SolverPlayer
from rookery.arena.rating.estimate import RatingEstimate
from rookery.arena.rating.ladder import load_ladder
from rookery.arena.rating.rate import RatingCallback, RatingPlan, RatingReport, rate_player
from rookery.arena.solvers.connect4 import Connect4Solver
from rookery.arena.solvers.exhaustive import ExhaustiveSolver
from rookery.arena.strength import strength_test_for
from rookery.arena.strength.match_test import MatchTest
from rookery.arena.strength.strength_test import PartResult, Percentage, Strength, StrengthRow

__all__ = [
    "FORFEIT",
    "Connect4Solver",
    "ExhaustiveSolver",
    "Histories",
    "MatchGame",
    "MatchPlan",
    "MatchReport",
    "MatchTest",
    "MinimaxPlayer",
    "PartResult",
    "Percentage",
    "Player",
    "RandomPlayer",
    "RatingCallback",
    "RatingEstimate",
    "RatingPlan",
    "RatingReport",
    "SearchPlayer",
    "Solver",
    "SolverPlayer",
    "Strength",
    "StrengthRow",
    "WinDrawLoss",
    "choose_moves",
    "faults_of",
    "has_book",
    "is_named_player",
    "load_ladder",
    "named_player",
    "part_seed",
    "play_part",
    "rate_player",
    "report_match",
    "sample_boards",
    "strength_test_for",
]
