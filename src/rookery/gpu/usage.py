"""How busy a GPU is, as its driver says."""

import threading
import time
from dataclasses import dataclass

import torch

SECONDS_BETWEEN_LOOKS = 0.1


@dataclass(frozen=True)
class GpuUsage:
    """A stretch of time on a GPU."""

    busy: float
    """Share of the time in which a kernel ran."""
    memory_mb: int
    """Memory in use at its end, by everybody."""


class GpuMonitor:
    """Looks at a GPU several times a second, where nvidia-ml-py is installed."""

    def __init__(self, device: torch.device) -> None:
        self._looks: list[tuple[int, int]] = []
        self._past: list[tuple[int, int]] = []
        self._guard = threading.Lock()
        self._device = device
        try:
            self._look()
        except Exception:  # no package, no driver, no right to ask: nothing to report
            return
        threading.Thread(target=self._watch, daemon=True).start()

    def read(self) -> GpuUsage | None:
        """What was seen since the last call; None where nothing was."""
        with self._guard:
            looks, self._looks = self._looks, []
        self._past += looks
        return _summary(looks)

    def overall(self) -> GpuUsage | None:
        """What was seen since the beginning."""
        self.read()
        return _summary(self._past)

    def _watch(self) -> None:
        while True:
            time.sleep(SECONDS_BETWEEN_LOOKS)
            self._look()

    def _look(self) -> None:
        busy = torch.cuda.utilization(self._device)
        used = torch.cuda.device_memory_used(self._device)
        with self._guard:
            self._looks.append((busy, used))


def _summary(looks: list[tuple[int, int]]) -> GpuUsage | None:
    if not looks:
        return None
    busy = sum(busy for busy, _ in looks) / len(looks) / 100
    return GpuUsage(busy=busy, memory_mb=looks[-1][1] // 2**20)
