"""`rookery play`: a game against a player, in the terminal."""

from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.settings import Devices, TrustRules

if TYPE_CHECKING:
    from rookery.arena import Player
    from rookery.games import Game


class First(StrEnum):
    """Who makes the first move."""

    me = "me"
    it = "it"


def play(
    against: Annotated[
        str,
        typer.Argument(metavar="RUN|GAME", help="Play against this run folder, game, or RUN+RUN."),
    ],
    simulations: Annotated[
        int,
        typer.Option(min=0, help="Run N simulations per move of the run; 0 is the network alone."),
    ] = 100,
    opponent: Annotated[
        str | None,
        typer.Option(help="Play against another player: random, minimax:4, solver, RUN:400."),
    ] = None,
    first: Annotated[First, typer.Option(help="Choose who makes the first move.")] = First.me,
    seed: Annotated[int, typer.Option(help="Seed the opponent.")] = 1,
    devices: Devices = "cpu",
    trust_rules: TrustRules = False,
) -> None:
    """Play against a run, or against the default opponent of a game."""
    from rookery.interface.console_game import ConsoleGame
    from rookery.interface.formatting import screen

    game, player = _opponent(
        against,
        opponent,
        simulations=simulations,
        seed=seed,
        devices=devices,
        trust_rules=trust_rules,
    )
    ConsoleGame(game, player, console=screen(), person_first=first is First.me).play()


def _opponent(
    against: str,
    opponent: str | None,
    *,
    simulations: int,
    seed: int,
    devices: str,
    trust_rules: bool,
) -> "tuple[Game, Player]":
    from rookery.base import ConfigError
    from rookery.games import game_names
    from rookery.games import load_game as find_game
    from rookery.interface.players import (
        default_opponent,
        is_game,
        make_player,
        read_net,
    )

    make = partial(make_player, seed=seed, devices=devices, trust_rules=trust_rules)
    game = find_game(against) if is_game(against) else None
    if opponent and game:
        return game, make(opponent, game)
    text = default_opponent(game) if game else against
    net = read_net(text, simulations=simulations, others=game_names(), trust_rules=trust_rules)
    if game and net is None:
        return game, make(text, game)
    if net is None:
        raise ConfigError(
            f"{against} is neither a run nor a game; give a game and --opponent {against}"
        )
    if opponent:
        return net.game, make(opponent, net.game)
    player = net.player(inference="float32", devices=devices)
    return net.game, player.player(net.game, seed=seed)
