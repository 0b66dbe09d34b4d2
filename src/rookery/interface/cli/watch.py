"""`rookery watch`: the live view of a run that another process trains."""

from pathlib import Path
from typing import Annotated

import typer


def watch(
    run: Annotated[Path, typer.Argument(help="Watch the run in this folder.")],
    once: Annotated[bool, typer.Option("--once", help="Print the present state once.")] = False,
) -> None:
    """Watch a run that another process trains, or print the state of one."""
    from rookery.interface.formatting import screen
    from rookery.interface.watch import watch_run

    watch_run(run, screen(), once=once)
