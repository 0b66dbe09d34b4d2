"""The live view of a run that another process trains, read from its folder."""

from rookery.interface.watch.panel import watch_run
from rookery.interface.watch.run_status import RunWatcher

__all__ = ["RunWatcher", "watch_run"]
