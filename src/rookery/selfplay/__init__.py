"""Self-play: many games at once against oneself, as records to learn from."""

from rookery.selfplay.config import SelfPlayConfig
from rookery.selfplay.play import SelfPlay, SelfPlayReport

__all__ = ["SelfPlay", "SelfPlayConfig", "SelfPlayReport"]
