"""Players without a network, by name: `random`, `minimax:2`, engines such as `stockfish:1350`.

A suffix such as `~30` makes 30 % of the moves random.
"""

from rookery.arena.player import Player
from rookery.arena.players.engine_spec import FAMILIES, read_engine_spec
from rookery.arena.players.minimax import MinimaxPlayer
from rookery.arena.players.random import NoisyPlayer, RandomPlayer
from rookery.arena.players.uci import UciPlayer
from rookery.base import ConfigError
from rookery.games import Game

DEFAULT_DEPTH = 4
KINDS = ("random", "minimax", *FAMILIES)


def is_named_player(text: str) -> bool:
    """Whether `text` is the name of a player for `named_player`."""
    return text.partition("~")[0].partition(":")[0] in KINDS


def named_player(text: str, game: Game, *, seed: int) -> Player:
    """Return the player with this name, or raise ConfigError."""
    name, tilde, percent = text.partition("~") if not text.startswith("uci:") else (text, "", "")
    if not tilde:
        return _player(name, game, seed)
    if not percent.isdecimal() or not 1 <= int(percent) <= 99:
        raise ConfigError(
            f"the percentage of random moves is 1 to 99, as in fairy:-20~50, got {text!r}"
        )
    return NoisyPlayer(game, _player(name, game, seed), percent=int(percent), seed=seed)


def _player(name: str, game: Game, seed: int) -> Player:
    kind, _, argument = name.partition(":")
    if kind == "random" and not argument:
        return RandomPlayer(game, seed)
    if kind == "minimax":
        depth = argument or str(DEFAULT_DEPTH)
        if not depth.isdecimal():
            raise ConfigError(
                f"minimax takes its depth as in minimax:{DEFAULT_DEPTH}, got {name!r}"
            )
        return MinimaxPlayer(game, int(depth), seed=seed)
    if kind in FAMILIES:
        return UciPlayer(game, read_engine_spec(name))
    raise ConfigError(f"unknown player {name!r}; known: {', '.join(KINDS)}")
