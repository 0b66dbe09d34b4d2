"""`rookery play`: a person against a player, in the terminal."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.settings import Devices

if TYPE_CHECKING:
    from rookery.arena import Player
    from rookery.games import Game


class First(StrEnum):
    """Who makes the first move."""

    me = "me"
    it = "it"


def play(
    against: Annotated[str, typer.Argument(metavar="RUN|GAME", help="A run folder, or a game.")],
    simulations: Annotated[
        int, typer.Option(min=0, help="Simulations a move of the run; 0 is the bare net.")
    ] = 100,
    opponent: Annotated[
        str | None, typer.Option(help="Play another one: random, minimax:4, solver, RUN:400.")
    ] = None,
    first: Annotated[First, typer.Option(help="Who makes the first move.")] = First.me,
    seed: Annotated[int, typer.Option(help="What is random in the opponent follows from it.")] = 1,
    devices: Devices = "cpu",
) -> None:
    """Play against a run, or against the strongest plain player of a game."""
    from rookery.interface.sitting import Sitting
    from rookery.interface.wording import screen

    game, player = _opponent(against, opponent, simulations=simulations, seed=seed, devices=devices)
    Sitting(game, player, console=screen(), person_first=first is First.me).play()


def _opponent(
    against: str, opponent: str | None, *, simulations: int, seed: int, devices: str
) -> "tuple[Game, Player]":
    from rookery.games import game_names
    from rookery.interface.players import (
        default_opponent,
        find_game,
        is_game,
        make_player,
        net_player,
        read_run,
    )

    if is_game(against):
        game = find_game(against)
        return game, make_player(
            opponent or default_opponent(game), game, seed=seed, devices=devices
        )
    run = read_run(against, simulations=simulations, others=game_names())
    if run is None:
        from rookery.base import ConfigError

        raise ConfigError(f"play a run or a game; for {against} say --opponent {against} as well")
    game = run.folder.game
    if opponent:
        return game, make_player(opponent, game, seed=seed, devices=devices)
    name = Path(run.folder.path).name
    return game, net_player(run, game, seed=seed, inference="float32", name=name, devices=devices)
