"""`rookery play`: a game against a player, in the terminal."""

from enum import StrEnum
from typing import Annotated

import typer

from rookery.interface.cli.completion import complete_net
from rookery.interface.cli.settings import Devices, Seed, TrustRules, print_device_note, whole


class First(StrEnum):
    """Who makes the first move."""

    me = "me"
    it = "it"


def play(
    against: Annotated[
        str,
        typer.Argument(
            metavar="RUN|GAME",
            autocompletion=complete_net,
            help="Play against this run folder, game, or RUN+RUN.",
        ),
    ],
    simulations: Annotated[
        int,
        typer.Option(
            parser=whole(0, "MAX_SIMULATIONS"),
            metavar="N",
            help="Run N simulations per move of the run; 0 is the network alone.",
        ),
    ] = 100,
    opponent: Annotated[
        str | None,
        typer.Option(
            metavar="PLAYER",
            help="Play against another player: random, minimax:4, solver, RUN:400.",
        ),
    ] = None,
    first: Annotated[First, typer.Option(help="Choose who makes the first move.")] = First.me,
    seed: Seed = 1,
    devices: Devices = "cpu",
    trust_rules: TrustRules = False,
) -> None:
    """Play against a run, or against the default opponent of a game."""
    from rookery.api import default_opponent, is_game, read_net, read_player_spec
    from rookery.base import ConfigError
    from rookery.games import game_names, load_game
    from rookery.interface.console_game import ConsoleGame
    from rookery.interface.formatting import loading, screen

    game = load_game(against) if is_game(against) else None
    text = default_opponent(game) if game else against
    net = None
    if not (game and opponent):
        net = read_net(text, simulations=simulations, others=game_names(), trust_rules=trust_rules)
    game = net.game if net else game
    if game is None:
        raise ConfigError(
            f"{against} is neither a run nor a game; give a game and --opponent {against}"
        )
    if net and not opponent:
        spec = net.player(inference="float32", devices=devices)
    else:
        spec = read_player_spec(opponent or text, game, devices=devices, trust_rules=trust_rules)
    with loading(f"Preparing {opponent or text}"):
        player = spec.player(game, seed=seed)
    if spec.kind == "net":
        print_device_note(devices)
    ConsoleGame(game, player, console=screen(), person_first=first is First.me).play()
