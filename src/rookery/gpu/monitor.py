"""GPU utilization and memory, as the NVIDIA driver reports them."""

import threading
from dataclasses import dataclass

import torch

SAMPLE_SECONDS = 0.1
LATEST_SAMPLES = 10
"""Samples of the last second."""


@dataclass(frozen=True)
class GpuUsage:
    """Load of a GPU over an interval."""

    busy: float
    """Share of the time in which a kernel ran."""
    memory_mb: int
    """Memory in use by all processes at the end of the interval."""


class GpuMonitor:
    """A thread that samples the load of a GPU until `close`.

    Without nvidia-ml-py, a driver or the permission to query it, there are no samples.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._samples: list[tuple[int, int]] = []
        self._past_samples: list[tuple[int, int]] = []
        self._lock = threading.Lock()
        self._is_closed = threading.Event()
        self._thread: threading.Thread | None = None
        try:
            self._sample()
        except Exception:  # torch raises different types for each of the reasons above
            return
        self._thread = threading.Thread(target=self._run, name="gpu-monitor", daemon=True)
        self._thread.start()

    def __enter__(self) -> "GpuMonitor":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the thread; samples taken so far can still be read."""
        self._is_closed.set()
        if self._thread is not None:
            self._thread.join()

    def read(self) -> GpuUsage | None:
        """Return the load since the last call, or None without samples."""
        with self._lock:
            samples, self._samples = self._samples, []
            self._past_samples += samples
        return _mean_usage(samples)

    def latest(self) -> GpuUsage | None:
        """Return the load of the last second, or None without samples."""
        with self._lock:
            samples = self._past_samples[-LATEST_SAMPLES:] + self._samples[-LATEST_SAMPLES:]
        return _mean_usage(samples[-LATEST_SAMPLES:])

    def overall(self) -> GpuUsage | None:
        """Return the load since the start of the monitor, or None without samples."""
        self.read()
        return _mean_usage(self._past_samples)

    def _run(self) -> None:
        while not self._is_closed.wait(SAMPLE_SECONDS):
            self._sample()

    def _sample(self) -> None:
        busy = torch.cuda.utilization(self._device)
        used = torch.cuda.device_memory_used(self._device)
        with self._lock:
            self._samples.append((busy, used))


def process_usage(device: torch.device) -> tuple[int, float | None]:
    """Return the MB that this process has reserved on a GPU, and the GPU's load from 0 to 1.

    On a CPU there is nothing to measure; without the driver's figures the load is None.
    """
    if device.type != "cuda":
        return 0, None
    reserved = torch.cuda.memory_reserved(device) // 2**20
    try:
        return reserved, torch.cuda.utilization(device) / 100
    except Exception:  # the types are those of GpuMonitor
        return reserved, None


def _mean_usage(samples: list[tuple[int, int]]) -> GpuUsage | None:
    if not samples:
        return None
    busy = sum(busy for busy, _ in samples) / len(samples) / 100
    return GpuUsage(busy=busy, memory_mb=samples[-1][1] // 2**20)
