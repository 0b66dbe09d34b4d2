"""`rookery watch`: look at a run while another process trains it."""

from pathlib import Path
from typing import Annotated

import typer


def watch(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    once: Annotated[bool, typer.Option("--once", help="Show it once, as it stands.")] = False,
) -> None:
    """Watch a run that another process trains, or see where one stands."""
    from rookery.interface.formatting import screen
    from rookery.interface.watch import watch_run

    watch_run(run, screen(), once=once)
