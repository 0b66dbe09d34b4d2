"""Players without a network, by name: `random`, `minimax:2`, `solver`, `stockfish:1350`.

A suffix such as `~30` makes 30 % of the moves random.
"""

from functools import cache

from rookery.arena.player import Player
from rookery.arena.players.engine_spec import FAMILIES, read_engine_spec
from rookery.arena.players.minimax import MinimaxPlayer
from rookery.arena.players.random import NoisyPlayer, RandomPlayer
from rookery.arena.players.solver import Solver, SolverPlayer
from rookery.arena.players.uci import UciPlayer
from rookery.arena.solvers.connect4 import Connect4Solver
from rookery.arena.solvers.exhaustive import ExhaustiveSolver
from rookery.base import ConfigError, read_whole
from rookery.games import Game, load_game

DEFAULT_DEPTH = 4
MAX_DEPTH = 100
KINDS = ("random", "minimax", "solver", *FAMILIES)
SOLVED = ("connect4", "tictactoe")


def is_named_player(text: str) -> bool:
    """Whether `text` is the name of a player for `named_player`."""
    return text.partition("~")[0].partition(":")[0] in KINDS


def named_player(text: str, game: Game, *, seed: int) -> Player:
    """Return the player with this name, or raise ConfigError."""
    name, tilde, percent = text.partition("~") if not text.startswith("uci:") else (text, "", "")
    if not tilde:
        return _player(name, game, seed)
    share = read_whole(f"the percentage of random moves in {text}", percent, (1, 99))
    return NoisyPlayer(game, _player(name, game, seed), percent=share, seed=seed)


def _player(name: str, game: Game, seed: int) -> Player:
    kind, _, argument = name.partition(":")
    if kind == "random" and not argument:
        return RandomPlayer(game, seed)
    if kind == "minimax":
        text = argument or str(DEFAULT_DEPTH)
        depth = read_whole(f"the depth of {name}", text, (1, MAX_DEPTH))
        return MinimaxPlayer(game, depth, seed=seed)
    if kind == "solver" and not argument:
        return SolverPlayer(game, _solver_of(game), seed=seed)
    if kind in FAMILIES:
        return UciPlayer(game, read_engine_spec(name))
    raise ConfigError(f"unknown player {name!r}; known: {', '.join(KINDS)}")


def _solver_of(game: Game) -> Solver:
    if game.name not in SOLVED or game.digest:
        raise ConfigError(f"there is no solver for {game.name}; try minimax:4")
    return _solver(game.name)


@cache
def _solver(name: str) -> Solver:
    return Connect4Solver() if name == "connect4" else ExhaustiveSolver(load_game(name))
