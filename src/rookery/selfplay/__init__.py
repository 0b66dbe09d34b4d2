"""Self-play: many games at once against oneself, as records to learn from."""

from rookery.selfplay.config import SelfPlayConfig
from rookery.selfplay.device import DeviceSelfPlay
from rookery.selfplay.harvest import Counts, Harvest
from rookery.selfplay.play import SelfPlay
from rookery.selfplay.report import SelfPlayReport, merge_plays, report_rows

__all__ = [
    "Counts",
    "DeviceSelfPlay",
    "Harvest",
    "SelfPlay",
    "SelfPlayConfig",
    "SelfPlayReport",
    "merge_plays",
    "report_rows",
]
