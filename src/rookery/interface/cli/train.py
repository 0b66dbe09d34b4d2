"""`rookery train`: start a new run."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rookery.interface.cli.settings import (
    Actors,
    ClusterAddress,
    Devices,
    Minutes,
    Recipe,
    Settings,
    TrustRules,
    changed,
    placed,
    start_from,
)


def train(
    game: Annotated[str, typer.Argument(help="A game, or the path of a rules file.")],
    run: Annotated[
        Path | None,
        typer.Option("--run", help="The new run folder; runs/GAME-1 or the next free number."),
    ] = None,
    recipe: Recipe = None,
    init: Annotated[
        str | None,
        typer.Option(
            "--init",
            metavar="RUN|FILE|GAME",
            help="Begin with the weights of a run, of a .safetensors file, or of the net that "
            "comes with a game, and with a net of that shape.",
        ),
    ] = None,
    minutes: Minutes = None,
    settings: Settings = None,
    devices: Devices = "auto",
    actors: Actors = None,
    cluster: ClusterAddress = None,
    trust_rules: TrustRules = False,
) -> None:
    """Train a game into a new run folder, from nothing or from another net."""
    from rookery.games import load_game as find_game
    from rookery.interface.formatting import screen
    from rookery.interface.players import read_first_weights
    from rookery.interface.training import train_visibly
    from rookery.training import RunFolder, check_hardware

    start = start_from(game, recipe, devices)
    rules = find_game(start.game)
    first = read_first_weights(init, trust_rules=trust_rules) if init else None
    if first is not None:
        start = replace(start, net=first.weights.header.config)
    where = placed(devices, actors, cluster)
    config = changed(start, minutes, [*where, *(settings or ())])
    device = check_hardware(config)
    folder = RunFolder.create(run or free_folder(Path("runs"), rules.name), config, first)
    console, begun = screen(), f", begun with {first.source}" if first else ""
    console.print(
        f"Training {rules.name} in {folder.path}, recipe {config.recipe}, on {device}{begun}",
        soft_wrap=True,
    )
    train_visibly(folder, console)


def free_folder(parent: Path, name: str) -> Path:
    """The first of NAME-1, NAME-2, ... that does not exist, without the signs of a variant."""
    number, stem = 1, re.sub("[:=]", "-", name)
    while (parent / f"{stem}-{number}").exists():
        number += 1
    return parent / f"{stem}-{number}"
