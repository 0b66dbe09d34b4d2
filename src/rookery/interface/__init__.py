"""What people see: the command line, its live progress, its tables."""

from rookery.interface.cli import main

__all__ = ["main"]
