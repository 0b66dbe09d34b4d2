"""Exact solvers, and Connect Four positions that were solved in advance."""

from rookery.arena.solvers.connect4 import Connect4Solver
from rookery.arena.solvers.exhaustive import ExhaustiveSolver
from rookery.arena.solvers.positions import (
    GROUPS,
    SolvedPosition,
    group_of,
    load_positions,
    plies_left,
    read_line,
    write_line,
)

__all__ = [
    "GROUPS",
    "Connect4Solver",
    "ExhaustiveSolver",
    "SolvedPosition",
    "group_of",
    "load_positions",
    "plies_left",
    "read_line",
    "write_line",
]
