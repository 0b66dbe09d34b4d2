"""The user interface: command line, progress display, tables and UCI engine."""

from rookery.interface.cli import main

__all__ = ["main"]
