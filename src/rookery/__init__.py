"""Rookery trains board-game players from nothing by self-play."""

__version__ = "0.1.0"
