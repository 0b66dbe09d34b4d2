"""`rookery train`, `resume` and `watch`: start, continue and watch a run."""

import os
from dataclasses import replace
from math import ceil
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.completion import complete_game, complete_net, complete_run
from rookery.interface.cli.settings import (
    Actors,
    ClusterAddress,
    Devices,
    Iterations,
    Log,
    Minutes,
    Recipe,
    Settings,
    TrustRules,
    print_device_note,
    whole,
    with_options,
)

if TYPE_CHECKING:
    from rookery.training import Config


def train(
    game: Annotated[
        str,
        typer.Argument(
            metavar="GAME|FILE",
            autocompletion=complete_game,
            help="Train this game, or the game of this rules file.",
        ),
    ],
    run: Annotated[
        Path | None,
        typer.Option(
            "--run",
            metavar="FOLDER",
            help="Create this run folder; by default runs/GAME-1 or the next free number.",
        ),
    ] = None,
    recipe: Recipe = None,
    init: Annotated[
        str | None,
        typer.Option(
            "--init",
            metavar="RUN|FILE|GAME",
            autocompletion=complete_net,
            help="Start from the weights of a run, a .safetensors file, or the network bundled "
            "with a game, by default with its shape; what does not fit starts from scratch.",
        ),
    ] = None,
    games: Annotated[
        list[Path] | None,
        typer.Option(
            "--games",
            metavar="FILE",
            help="Also learn from the games of this file: PGN for chess, .jsonl for any game; "
            "repeatable.",
        ),
    ] = None,
    ensemble: Annotated[
        int | None,
        typer.Option(
            "--ensemble",
            metavar="N",
            parser=whole(1, "MAX_PROCESSES"),
            help="Train N networks on the same games; the mean of their evaluations plays.",
        ),
    ] = None,
    planned: Annotated[
        bool,
        typer.Option(
            "--plan", help="Measure this machine first and use the settings of rookery plan."
        ),
    ] = False,
    minutes: Minutes = None,
    iterations: Iterations = None,
    settings: Settings = None,
    devices: Devices = "auto",
    actors: Actors = None,
    cluster: ClusterAddress = None,
    log: Log = None,
    trust_rules: TrustRules = False,
) -> None:
    """Train a game in a new run folder, from scratch or from another network."""
    from rookery.api import devices_for, free_folder, placement, read_initial_weights, start_from
    from rookery.games import load_game
    from rookery.interface.formatting import screen
    from rookery.interface.trackers.tracker import read_trackers
    from rookery.interface.training import train_visibly
    from rookery.training import RunFolder, check_hardware, prepare_compilers

    prepare_compilers()
    trackers = read_trackers(log or ())
    devices = devices_for(game, devices)
    start = start_from(game, recipe, devices)
    rules = load_game(start.game)
    if planned:
        start = _planned(start, minutes, devices)
    first = read_initial_weights(init, trust_rules=trust_rules) if init is not None else None
    if first is not None:
        start = replace(start, net=first.weights.header.config)
    where = placement(devices, actors, cluster)
    members = [] if ensemble is None else [f"net.members={ensemble}"]
    options = [*where, *members, *(settings or ())]
    config = with_options(start, minutes, options, iterations=iterations)
    device = check_hardware(config)
    path = run or free_folder(Path("runs"), rules.name)
    folder = RunFolder.create(path, config, first, games=games or ())
    console, origin = screen(), f", starting from {first.source}" if first else ""
    console.print(
        f"Training {rules.name} in {folder.path}, recipe {config.recipe}, on {device}{origin}",
        soft_wrap=True,
    )
    print_device_note(config.run.devices)
    train_visibly(folder, console, trackers)


def _planned(start: "Config", minutes: float | None, devices: str) -> "Config":
    """Return `start` with the settings of a plan, which is shown."""
    from rookery.api import plan_from
    from rookery.interface.cli.plan import show_plan
    from rookery.training import apply

    found = plan_from(start, minutes, devices=devices)
    show_plan(found)
    return apply(start, [f"{name}={value}" for name, value in found.settings.items()])


def resume(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", autocompletion=complete_run, help="Resume the run in this folder."
        ),
    ],
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="ITERATION|NAME",
            help="Continue from this checkpoint in a new run folder; rookery checkpoint RUN lists "
            "all, run.keep_checkpoints sets how many there are. RUN stays as it is.",
        ),
    ] = None,
    new: Annotated[
        Path | None,
        typer.Option(
            "--run",
            metavar="FOLDER",
            help="With --at, create this run folder; by default RUN-at-ITERATION or -NAME.",
        ),
    ] = None,
    minutes: Minutes = None,
    iterations: Iterations = None,
    settings: Settings = None,
    devices: Devices = "",
    actors: Actors = None,
    cluster: ClusterAddress = None,
    log: Log = None,
    trust_rules: TrustRules = False,
) -> None:
    """Resume a run from its last checkpoint, or from an older one in a new folder."""
    from rookery.api import placement
    from rookery.base import ConfigError
    from rookery.interface.formatting import duration, program, screen
    from rookery.interface.run_history import read_history
    from rookery.interface.trackers.tracker import read_trackers
    from rookery.interface.training import train_visibly
    from rookery.training import RunFolder, check_hardware, prepare_compilers

    prepare_compilers()
    if new is not None and at is None:
        raise ConfigError("--run needs --at: a run is resumed in its own folder")
    trackers = read_trackers(log or ())
    folder = RunFolder(run, trust_rules=trust_rules)
    where = placement(devices, actors, cluster)
    options = [*where, *(settings or ())]
    config = with_options(folder.config, minutes, options, iterations=iterations)
    check_hardware(config)
    console = screen()
    if at is not None:
        folder = folder.continue_in(new or _folder_at(run, at), config, at=at)
        console.print(
            f"Continuing {folder.game.name} from checkpoint {at} of {run} in {folder.path}",
            markup=False,
            soft_wrap=True,
        )
        train_visibly(folder, console, trackers)
        return
    past = read_history(run)
    if past.is_finished and config.run.progress(past.seconds, past.iteration) >= 1.0:
        longer = ceil(2 * past.seconds / 60)
        console.print(
            f"{run} has finished after {duration(past.seconds)} and {past.iteration} iterations; "
            f"to train it longer: {program()} resume {quote(str(run))} --minutes {longer}",
            soft_wrap=True,
        )
        return
    with folder.lock():
        folder.change(config)
        folder.keep_rules()
    console.print(f"Resuming {folder.game.name} in {run}", soft_wrap=True)
    print_device_note(config.run.devices)
    train_visibly(folder, console, trackers)


def _folder_at(run: Path, at: str) -> Path:
    """Return the first of RUN-at-120, RUN-at-120-1, ... that does not exist."""
    named = run if run.name not in ("", "..") else run.resolve()
    path = named.with_name(f"{named.name}-at-{at.replace('/', '-')}")
    from rookery.api import free_folder

    return free_folder(path.parent, path.name) if os.path.lexists(path) else path


def watch(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", autocompletion=complete_run, help="Watch the run in this folder."
        ),
    ],
    once: Annotated[bool, typer.Option("--once", help="Print the present state once.")] = False,
) -> None:
    """Watch a run that another process trains, or print the state of one."""
    from rookery.interface.formatting import screen
    from rookery.interface.watch import watch_run

    watch_run(run, screen(), once=once)
