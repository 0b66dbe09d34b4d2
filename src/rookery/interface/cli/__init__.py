"""The command line, a file a command; each imports what is heavy (torch, Numba) by itself."""

from rookery.interface.cli.app import main

__all__ = ["main"]
