"""The user interface: command line, progress display, tables, pictures and UCI engine."""

from rookery.interface.cli import main
from rookery.interface.picture import plot

__all__ = ["main", "plot"]
