"""Players without a net, by text: random, minimax:2, engines; ~30 adds 30 % random moves."""

from rookery.arena.player import Player
from rookery.arena.players.engine_specs import FAMILIES, read_engine
from rookery.arena.players.minimax import MinimaxPlayer
from rookery.arena.players.noisy import NoisyPlayer
from rookery.arena.players.random import RandomPlayer
from rookery.arena.players.uci import UciPlayer
from rookery.base import ConfigError
from rookery.games import Game

DEPTH = 4
"""Plies that minimax looks ahead where the text does not say."""
KINDS = ("random", "minimax", *FAMILIES)


def is_named_player(text: str) -> bool:
    """Whether `text` names a player that `plain_player` makes."""
    return text.partition("~")[0].partition(":")[0] in KINDS


def named_player(text: str, game: Game, *, seed: int) -> Player:
    """The player that `text` names."""
    whole, tilde, percent = text.partition("~") if not text.startswith("uci:") else (text, "", "")
    if not tilde:
        return _player(whole, game, seed)
    if not percent.isdecimal() or not 1 <= int(percent) <= 99:
        raise ConfigError(f"random moves are 1 to 99 in a hundred, as in fairy:-20~50, got {text}")
    player = _player(whole, game, seed)
    return NoisyPlayer(game, player, percent=int(percent), seed=seed)


def _player(text: str, game: Game, seed: int) -> Player:
    kind, _, rest = text.partition(":")
    if kind == "random" and not rest:
        return RandomPlayer(game, seed)
    if kind == "minimax":
        return MinimaxPlayer(game, _depth(text), seed=seed)
    if kind in FAMILIES:
        return UciPlayer(game, read_engine(text))
    raise ConfigError(f"unknown player {text!r}; known: {', '.join(KINDS)}")


def _depth(text: str) -> int:
    number = text.partition(":")[2] or str(DEPTH)
    if not number.isdecimal():
        raise ConfigError(f"minimax takes its depth as in minimax:{DEPTH}, got {text!r}")
    return int(number)
