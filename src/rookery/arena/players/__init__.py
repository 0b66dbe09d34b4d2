"""The players of the arena: random, minimax, solvers, UCI engines and networks with search."""

from rookery.arena.players.minimax import MinimaxPlayer
from rookery.arena.players.named import is_named_player, named_player
from rookery.arena.players.random import NoisyPlayer, RandomPlayer
from rookery.arena.players.search import SearchPlayer
from rookery.arena.players.solver import Solver, SolverPlayer
from rookery.arena.players.uci import UciPlayer

__all__ = [
    "MinimaxPlayer",
    "NoisyPlayer",
    "RandomPlayer",
    "SearchPlayer",
    "Solver",
    "SolverPlayer",
    "UciPlayer",
    "is_named_player",
    "named_player",
]
