"""Watching a run: a live panel, or a single printout."""

import time
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.live import Live

from rookery.interface.watch.panel import RunPanel
from rookery.interface.watch.run_status import FINISHED, RunWatcher

REFRESH_SECONDS = 0.5
HINT = "Ctrl-C stops watching; the run continues"


def watch_run(path: Path, console: Console, *, once: bool) -> None:
    """Show the run at `path` until it finishes or Ctrl-C; print once if `once` or no terminal.

    The last panel stays on the screen.
    """
    watcher = RunWatcher(path)
    if console.is_terminal and not console.is_dumb_terminal and not once:
        with suppress(KeyboardInterrupt):
            _follow(watcher, console)
    console.print(RunPanel(watcher.status()))


def _follow(watcher: RunWatcher, console: Console) -> None:
    status = watcher.status()
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while status.state != FINISHED:
            panel = RunPanel(status, height=console.height, hint=HINT)
            live.update(panel, refresh=True)
            time.sleep(REFRESH_SECONDS)
            status = watcher.status()
