"""Self-play: many games at once against oneself, as rows to learn from."""

from rookery.selfplay.config import SelfPlayConfig
from rookery.selfplay.cpu import CpuSelfPlay
from rookery.selfplay.gpu import GpuSelfPlay
from rookery.selfplay.kernel_calls import kernel_calls
from rookery.selfplay.report import Played, SelfPlayReport, merge_reports

__all__ = [
    "CpuSelfPlay",
    "GpuSelfPlay",
    "Played",
    "SelfPlayConfig",
    "SelfPlayReport",
    "kernel_calls",
    "merge_reports",
]
