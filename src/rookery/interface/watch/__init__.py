"""The live view of a run that another process trains, read from its folder."""

from rookery.interface.watch.panel import watch_run

__all__ = ["watch_run"]
