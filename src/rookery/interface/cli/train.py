"""`rookery train`: start a new run."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rookery.interface.cli.settings import (
    Actors,
    ClusterAddress,
    Devices,
    Minutes,
    Settings,
    changed,
    placed,
)


def train(
    game: Annotated[str, typer.Argument(help="A game, or the path of a rules file.")],
    run: Annotated[
        Path | None,
        typer.Option("--run", help="The new run folder; runs/GAME-1 or the next free number."),
    ] = None,
    recipe: Annotated[
        str | None, typer.Option("--recipe", help="Settings to start from; see rookery recipes.")
    ] = None,
    minutes: Minutes = None,
    settings: Settings = None,
    devices: Devices = "auto",
    actors: Actors = None,
    cluster: ClusterAddress = None,
) -> None:
    """Train a game from nothing into a new run folder."""
    from rookery.interface.players import find_game, is_game
    from rookery.interface.training import train_visibly
    from rookery.interface.wording import screen
    from rookery.run import RunFolder, check_place, recipe_for
    from rookery.runtime import find_devices

    device = find_devices(devices)[0]
    name = str(Path(game).resolve()) if is_game(game) and game.endswith(".py") else game
    rules = find_game(name)
    start = replace(recipe_for(name, recipe, on_gpu=device.type == "cuda"), game=name)
    where = placed(devices, actors, cluster)
    config = changed(start, minutes, [*where, *(settings or ())])
    device = check_place(config)
    folder = RunFolder.create(run or free_folder(Path("runs"), rules.name), config)
    console = screen()
    console.print(
        f"Training {rules.name} in {folder.path}, recipe {config.recipe}, on {device}",
        soft_wrap=True,
    )
    train_visibly(folder, console)


def free_folder(parent: Path, name: str) -> Path:
    """The first of NAME-1, NAME-2, ... that does not exist."""
    number = 1
    while (parent / f"{name}-{number}").exists():
        number += 1
    return parent / f"{name}-{number}"
