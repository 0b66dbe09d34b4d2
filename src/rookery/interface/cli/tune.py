"""`rookery tune`: look for better settings, by short runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.settings import (
    Actors,
    ClusterAddress,
    Devices,
    Recipe,
    Settings,
    changed,
    placed,
    start_from,
)

if TYPE_CHECKING:
    from rookery.games import Game
    from rookery.training import Config, Space


def tune(
    game: Annotated[str, typer.Argument(help="A game, or the path of a rules file.")],
    trials: Annotated[
        int, typer.Option(min=1, help="Runs in all; the same command again goes on up to them.")
    ] = 20,
    study: Annotated[
        Path | None,
        typer.Option("--study", help="The study's folder, with all its runs; runs/GAME-study."),
    ] = None,
    space: Annotated[
        list[str] | None,
        typer.Option(
            "--space",
            help="Search this setting, not the usual ones: learning.learning_rate=1e-4..1e-2:log, "
            "search.considered=2..16, or learning.batch_size=64|128; repeatable.",
        ),
    ] = None,
    recipe: Recipe = None,
    minutes: Annotated[
        float | None, typer.Option("--minutes", help="How long the run of a trial takes.")
    ] = None,
    settings: Settings = None,
    devices: Devices = "auto",
    actors: Actors = None,
    cluster: ClusterAddress = None,
) -> None:
    """Search settings by short runs, compared by the strength they reach."""
    from rookery.games import load_game as find_game
    from rookery.interface.formatting import screen
    from rookery.interface.tuning import tune_visibly
    from rookery.training import Study, check_hardware

    start = start_from(game, recipe, devices)
    where = placed(devices, actors, cluster)
    config = changed(start, minutes, [*where, *(settings or ())])
    check_hardware(config)
    rules = find_game(config.game)
    searched = _space(config, rules, space, settings)
    folder = study or Path("runs") / f"{rules.name}-study"
    named = None if devices == "auto" else devices
    given = {"--minutes": minutes, "--devices": named, "--actors": actors, "--cluster": cluster}
    options = [(name, str(value)) for name, value in given.items() if value is not None]
    options += [("--set", setting) for setting in settings or ()]
    tune_visibly(Study(folder, config, searched), trials, shared=options, console=screen())


def _space(
    config: "Config", rules: "Game", texts: list[str] | None, settings: list[str] | None
) -> "Space":
    """What is searched: what was asked for, or the usual; never what `--set` fixes."""
    from rookery.base import ConfigError
    from rookery.training import default_space, read_space

    fixed = [setting.partition("=")[0].strip() for setting in settings or ()]
    if not texts:
        return default_space(config, rules, fixed)
    space = read_space(texts, config)
    for dimension in space:
        if dimension.name in fixed:
            raise ConfigError(f"{dimension.name} is searched and set; leave out --space or --set")
    return space
