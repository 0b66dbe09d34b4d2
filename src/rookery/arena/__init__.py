"""Strength measured: players, matches between them, Elo, and rulers that know the truth."""

from rookery.arena.boards import sample_boards
from rookery.arena.book import has_book
from rookery.arena.climb import ClimbPlan, ClimbReport, RatedGame, RungResult, Watch, climb
from rookery.arena.elo import (
    EloDifference,
    Rating,
    compare,
    elo_of_score,
    expected_score,
    rate,
)
from rookery.arena.ladder import Ladder, Rung, load_ladder
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
from rookery.arena.placing import Placement
from rookery.arena.player import FORFEIT, Player, ask, faults_of
from rookery.arena.players import (
    MinimaxPlayer,
    RandomPlayer,
    SearchPlayer,
    Solver,
    SolverPlayer,
    UciPlayer,
    is_plain,
    plain_player,
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
    "FORFEIT",
    "ClimbPlan",
    "ClimbReport",
    "Connect4Solver",
    "EloDifference",
    "ErrorTable",
    "ExhaustiveSolver",
    "Ladder",
    "Look",
    "MatchGame",
    "MatchPlan",
    "MatchReport",
    "MinimaxPlayer",
    "Past",
    "Placement",
    "Player",
    "Position",
    "RandomPlayer",
    "RatedGame",
    "Rating",
    "Row",
    "Ruler",
    "Rung",
    "RungResult",
    "SearchPlayer",
    "Share",
    "Solver",
    "SolverPlayer",
    "Strength",
    "Tally",
    "UciPlayer",
    "Watch",
    "ask",
    "climb",
    "compare",
    "elo_of_score",
    "expected_score",
    "faults_of",
    "has_book",
    "is_plain",
    "load_ladder",
    "load_positions",
    "measure_exhaustively",
    "measure_positions",
    "never_loses",
    "part_seed",
    "plain_player",
    "play_every_reply",
    "play_match",
    "play_part",
    "rate",
    "report_match",
    "ruler_for",
    "sample_boards",
]
