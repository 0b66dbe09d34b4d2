"""The players that ship with the arena."""

from rookery.arena.players.minimax import MinimaxPlayer
from rookery.arena.players.random import RandomPlayer
from rookery.arena.players.search import SearchPlayer
from rookery.arena.players.solver import Solver, SolverPlayer

__all__ = ["MinimaxPlayer", "RandomPlayer", "SearchPlayer", "Solver", "SolverPlayer"]
