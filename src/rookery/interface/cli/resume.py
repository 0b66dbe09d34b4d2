"""`rookery resume`: continue a run."""

from math import ceil
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from rookery.interface.cli.settings import (
    Actors,
    ClusterAddress,
    Devices,
    Minutes,
    Settings,
    TrustRules,
    placement,
    with_options,
)


def resume(
    run: Annotated[Path, typer.Argument(help="Resume the run in this folder.")],
    minutes: Minutes = None,
    settings: Settings = None,
    devices: Devices = "",
    actors: Actors = None,
    cluster: ClusterAddress = None,
    trust_rules: TrustRules = False,
) -> None:
    """Resume a run from its last checkpoint."""
    from rookery.interface.formatting import duration, program, screen
    from rookery.interface.run_history import read_history
    from rookery.interface.training import train_visibly
    from rookery.training import RunFolder, check_hardware

    folder = RunFolder(run, trust_rules=trust_rules)
    where = placement(devices, actors, cluster)
    config = with_options(folder.config, minutes, [*where, *(settings or ())])
    check_hardware(config)
    console, past = screen(), read_history(run)
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
    train_visibly(folder, console)
