"""Watching a run: a panel that is drawn again as lines arrive, or once."""

import time
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.live import Live

from rookery.interface.watch.panel import RunPanel
from rookery.interface.watch.run_status import FINISHED, Watched

LOOK_SECONDS = 0.5
"""Between two looks at the run folder."""
HINT = "Ctrl-C ends watching; the run goes on"


def watch_run(path: Path, console: Console, *, once: bool) -> None:
    """Show the run at `path` until it has finished or Ctrl-C; without a terminal, or `once`, once.

    What was seen last stays on the screen.
    """
    watched = Watched(path)
    if console.is_terminal and not console.is_dumb_terminal and not once:
        with suppress(KeyboardInterrupt):
            _follow(watched, console)
    console.print(RunPanel(watched.look()))


def _follow(watched: Watched, console: Console) -> None:
    standing = watched.look()
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while standing.state != FINISHED:
            panel = RunPanel(standing, height=console.height, hint=HINT)
            live.update(panel, refresh=True)
            time.sleep(LOOK_SECONDS)
            standing = watched.look()
