"""Self-play: many games at once against oneself, as records to learn from."""

from rookery.selfplay.config import SelfPlayConfig
from rookery.selfplay.device import DeviceSelfPlay, Stretch
from rookery.selfplay.play import SelfPlay
from rookery.selfplay.report import SelfPlayReport, merge_plays

__all__ = [
    "DeviceSelfPlay",
    "SelfPlay",
    "SelfPlayConfig",
    "SelfPlayReport",
    "Stretch",
    "merge_plays",
]
