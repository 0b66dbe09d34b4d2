"""Strength measured: players, matches between them, Elo, and rulers that know the truth."""

from rookery.arena.boards import sample_boards
from rookery.arena.elo import EloDifference, Rating, compare, elo_of_score, rate
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
from rookery.arena.player import Player
from rookery.arena.players import (
    MinimaxPlayer,
    RandomPlayer,
    SearchPlayer,
    Solver,
    SolverPlayer,
)
from rookery.arena.ruler import (
    Look,
    Ruler,
    measure_exhaustively,
    measure_positions,
    never_loses,
    play_every_reply,
    ruler_for,
)
from rookery.arena.solvers import Connect4Solver, ExhaustiveSolver, Position, load_positions
from rookery.arena.strength import ErrorTable, Row, Share, Strength

__all__ = [
    "Connect4Solver",
    "EloDifference",
    "ErrorTable",
    "ExhaustiveSolver",
    "Look",
    "MatchGame",
    "MatchPlan",
    "MatchReport",
    "MinimaxPlayer",
    "Past",
    "Player",
    "Position",
    "RandomPlayer",
    "Rating",
    "Row",
    "Ruler",
    "SearchPlayer",
    "Share",
    "Solver",
    "SolverPlayer",
    "Strength",
    "Tally",
    "compare",
    "elo_of_score",
    "load_positions",
    "measure_exhaustively",
    "measure_positions",
    "never_loses",
    "part_seed",
    "play_every_reply",
    "play_match",
    "play_part",
    "rate",
    "report_match",
    "ruler_for",
    "sample_boards",
]
