"""Players, matches between them, Elo ratings, and strength tests."""

from rookery.arena.lockstep import Histories, planes, sample_boards
from rookery.arena.match import (
    MatchPlan,
    MatchReport,
    WinDrawLoss,
    part_seed,
    play_part,
    report_match,
)
from rookery.arena.openings import Opening, default_plies, draw_openings, has_book
from rookery.arena.pairs import GamesInFlight, MatchGame, Pair, play_pairs
from rookery.arena.player import FORFEIT, Player, choose_moves, faults_of, value_of
from rookery.arena.players.minimax import MinimaxPlayer
from rookery.arena.players.named import is_named_player, named_player
from rookery.arena.players.random import RandomPlayer
from rookery.arena.players.search import SearchPlayer
from rookery.arena.players.solver import Solver, SolverPlayer
from rookery.arena.rating.bradley_terry import PairResults, count_pairs, rate_all
from rookery.arena.rating.elo import EloDifference, elo_difference, expected_score
from rookery.arena.rating.estimate import RatingEstimate
from rookery.arena.rating.ladder import (
    Ladder,
    anchors_of,
    fit_ladder,
    ladder_of,
    load_ladder,
    neighbours,
)
from rookery.arena.rating.rate import (
    Rating,
    RatingCallback,
    RatingPlan,
    RatingReport,
    rate_player,
)
from rookery.arena.solvers.connect4 import Connect4Solver
from rookery.arena.solvers.exhaustive import ExhaustiveSolver
from rookery.arena.strength import strength_test_for
from rookery.arena.strength.match_test import MatchTest
from rookery.arena.strength.strength_test import PartResult, Percentage, Strength, StrengthRow

__all__ = [
    "FORFEIT",
    "Connect4Solver",
    "EloDifference",
    "ExhaustiveSolver",
    "GamesInFlight",
    "Histories",
    "Ladder",
    "MatchGame",
    "MatchPlan",
    "MatchReport",
    "MatchTest",
    "MinimaxPlayer",
    "Opening",
    "Pair",
    "PairResults",
    "PartResult",
    "Percentage",
    "Player",
    "RandomPlayer",
    "Rating",
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
    "anchors_of",
    "choose_moves",
    "count_pairs",
    "default_plies",
    "draw_openings",
    "elo_difference",
    "expected_score",
    "faults_of",
    "fit_ladder",
    "has_book",
    "is_named_player",
    "ladder_of",
    "load_ladder",
    "named_player",
    "neighbours",
    "part_seed",
    "planes",
    "play_pairs",
    "play_part",
    "rate_all",
    "rate_player",
    "report_match",
    "sample_boards",
    "strength_test_for",
    "value_of",
]
