"""The command line; commands import torch and Numba only when they run."""

from rookery.interface.cli.app import main

__all__ = ["main"]
