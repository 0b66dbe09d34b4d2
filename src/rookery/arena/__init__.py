"""Strength measured: players, matches between them, Elo, and rulers that know the truth."""

from rookery.arena.boards import sample_boards
from rookery.arena.book import has_book
from rookery.arena.lockstep import Past
from rookery.arena.match import (
    MatchGame,
    MatchPlan,
    MatchReport,
    Tally,
    part_seed,
    play_match,
    play_part,
    report_match,
)
from rookery.arena.player import FORFEIT, Player, ask, faults_of
from rookery.arena.players import (
    MinimaxPlayer,
    RandomPlayer,
    SearchPlayer,
    Solver,
    SolverPlayer,
    UciPlayer,
    is_named_player,
    named_player,
)
from rookery.arena.rating.elo import (
    EloDifference,
    Rating,
    compare,
    elo_of_score,
    expected_score,
    rate,
)
from rookery.arena.rating.estimate import RatingEstimate
from rookery.arena.rating.ladder import Ladder, Rung, load_ladder
from rookery.arena.rating.rate import (
    RatedGame,
    RatingPlan,
    RatingReport,
    RungResult,
    Watch,
    rate_player,
)
from rookery.arena.solvers import Connect4Solver, ExhaustiveSolver, SolvedPosition, load_positions
from rookery.arena.strength import ErrorTable, Row, Share, Strength
from rookery.arena.strength_test import (
    PartResult,
    StrengthTest,
    measure_exhaustively,
    measure_positions,
    never_loses,
    play_every_reply,
    strength_test_for,
)

__all__ = [
    "FORFEIT",
    "Connect4Solver",
    "EloDifference",
    "ErrorTable",
    "ExhaustiveSolver",
    "Ladder",
    "MatchGame",
    "MatchPlan",
    "MatchReport",
    "MinimaxPlayer",
    "PartResult",
    "Past",
    "Player",
    "RandomPlayer",
    "RatedGame",
    "Rating",
    "RatingEstimate",
    "RatingPlan",
    "RatingReport",
    "Row",
    "Rung",
    "RungResult",
    "SearchPlayer",
    "Share",
    "SolvedPosition",
    "Solver",
    "SolverPlayer",
    "Strength",
    "StrengthTest",
    "Tally",
    "UciPlayer",
    "Watch",
    "ask",
    "compare",
    "elo_of_score",
    "expected_score",
    "faults_of",
    "has_book",
    "is_named_player",
    "load_ladder",
    "load_positions",
    "measure_exhaustively",
    "measure_positions",
    "named_player",
    "never_loses",
    "part_seed",
    "play_every_reply",
    "play_match",
    "play_part",
    "rate",
    "rate_player",
    "report_match",
    "sample_boards",
    "strength_test_for",
]
