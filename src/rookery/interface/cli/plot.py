"""`rookery plot`: the curves of runs as a picture."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from rookery.interface.cli.completion import complete_run
from rookery.interface.cli.settings import print_note
from rookery.interface.picture import write_picture


def plot(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN", autocompletion=complete_run, help="Plot the runs in these folders."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Write this file: NAME.png or NAME.svg.")
    ],
    axis: Annotated[
        Literal["time", "iterations", "games"],
        typer.Option("--x", help="Draw the curves over this."),
    ] = "time",
    what: Annotated[
        str,
        typer.Option(
            "--what",
            metavar="LIST",
            help="Draw some of strength,elo,loss,speed; by default all that the runs have.",
        ),
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write strength, Elo, loss and speed of one or several runs to a picture."""
    from rookery.interface.formatting import screen

    found, panels = write_picture(runs, out, axis=axis, what=what, force=force)
    for run in found:
        if not any(map(run.points.get, panels)):
            print_note(f"{run.name} has nothing to plot here yet")
    screen().print(f"Plotted {', '.join(panels)} in {out}", soft_wrap=True)
