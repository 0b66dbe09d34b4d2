"""`rookery tune`: search for better settings by short runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.completion import complete_game
from rookery.interface.cli.settings import (
    Actors,
    ClusterAddress,
    Devices,
    Recipe,
    Settings,
    print_device_note,
    whole,
    with_options,
)

if TYPE_CHECKING:
    from rookery.games import Game
    from rookery.training import Config, Space


def tune(
    game: Annotated[
        str,
        typer.Argument(
            metavar="GAME|FILE",
            autocompletion=complete_game,
            help="Tune this game, or the game of this rules file.",
        ),
    ],
    trials: Annotated[
        int,
        typer.Option(
            parser=whole(1, "MAX_GAMES"),
            metavar="N",
            help="Run N trials in total; repeat the command to continue a study.",
        ),
    ] = 20,
    study: Annotated[
        Path | None,
        typer.Option(
            "--study",
            metavar="FOLDER",
            help="Keep the study and its runs in this folder; by default runs/GAME-study.",
        ),
    ] = None,
    space: Annotated[
        list[str] | None,
        typer.Option(
            "--space",
            metavar="NAME=RANGE",
            help="Search this setting, not the defaults: learning.learning_rate=1e-4..1e-2:log, "
            "search.considered=2..16, or learning.batch_size=64|128; repeatable.",
        ),
    ] = None,
    recipe: Recipe = None,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", metavar="MINUTES", help="Train each trial this long."),
    ] = None,
    settings: Settings = None,
    devices: Devices = "auto",
    actors: Actors = None,
    cluster: ClusterAddress = None,
    workers: Annotated[
        int,
        typer.Option(
            parser=whole(0, "MAX_PROCESSES"),
            metavar="N",
            help="Run N trials at a time, each in one process, on the cores or GPUs of this "
            "machine or, with --cluster, on a cluster; 0 = one at a time.",
        ),
    ] = 0,
) -> None:
    """Tune settings by short runs, compared by their strength."""
    from rookery.api import devices_for, folder_stem, placement, start_from
    from rookery.games import load_game
    from rookery.interface.formatting import screen
    from rookery.interface.tuning import tune_visibly
    from rookery.training import Study, check_hardware, check_parallel

    devices = devices_for(game, devices)
    start = start_from(game, recipe, devices)
    where = placement(devices, actors, cluster)
    config = with_options(start, minutes, [*where, *(settings or ())])
    if workers:
        check_parallel(config)
    check_hardware(config)
    rules = load_game(config.game)
    searched = _space(config, rules, space, settings)
    folder = study or Path("runs") / f"{folder_stem(rules.name)}-study"
    named = None if devices == "auto" else devices
    given = {"--minutes": minutes, "--devices": named, "--actors": actors, "--cluster": cluster}
    options = [(name, str(value)) for name, value in given.items() if value is not None]
    options += [("--set", setting) for setting in settings or ()]
    print_device_note(config.run.devices)
    opened = Study(folder, config, searched)
    tune_visibly(opened, trials, shared=options, console=screen(), workers=workers)


def _space(
    config: "Config", rules: "Game", texts: list[str] | None, settings: list[str] | None
) -> "Space":
    """Return the requested or the default search space, without settings fixed by `--set`."""
    from rookery.base import ConfigError
    from rookery.training import default_space, read_space

    fixed = [setting.partition("=")[0].strip() for setting in settings or ()]
    if not texts:
        return default_space(config, rules, fixed)
    space = read_space(texts, config)
    for dimension in space:
        if dimension.name in fixed:
            raise ConfigError(f"{dimension.name} is both searched and set; remove --space or --set")
    return space
