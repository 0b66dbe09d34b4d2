"""`rookery checkpoint`: keep the newest checkpoint of a run under a name, or list all."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from rookery.interface.cli.completion import complete_run


def checkpoint(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            autocompletion=complete_run,
            help="Use the run in this folder; it may be training.",
        ),
    ],
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Keep the newest checkpoint under this name; it is not deleted."
        ),
    ] = None,
) -> None:
    """Keep the newest checkpoint of a run under a name, or list its checkpoints."""
    from rookery.interface.formatting import program, screen
    from rookery.training import find_checkpoints, keep_named, read_identity

    read_identity(run)
    found = [] if name is not None else list(find_checkpoints(run))
    resume = f"{program()} resume {quote(str(run))} --at"
    if name is not None:
        iteration = keep_named(run, name).iteration
        text = f"Kept iteration {iteration} as {name}; continue from it with: {resume} {name}"
    elif found:
        text = f"{', '.join(found)}; continue from one with: {resume} {found[-1]}"
    else:
        text = f"{run} has no checkpoint yet; let it train a little longer"
    screen().print(text, markup=False, highlight=False, soft_wrap=True)
