"""Rookery as an engine in chess programs, by the Universal Chess Interface."""

from rookery.interface.uci.engine import Engine
from rookery.interface.uci.inbox import Inbox

__all__ = ["Engine", "Inbox"]
