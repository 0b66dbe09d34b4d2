"""Captured CUDA graphs, and timing on the device."""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

WARM_UP_CALLS = 3
"""Calls before a capture, in which libraries allocate and choose their kernels."""


class Graph:
    """A function whose GPU work is captured once and replayed; on the CPU it is called.

    The function must read and write the same memory in every call.
    """

    def __init__(self, function: Callable[[], None], device: torch.device) -> None:
        self._replay = function
        if device.type == "cuda":
            for _ in range(WARM_UP_CALLS):
                function()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with _no_garbage_collection(), torch.cuda.graph(graph):
                function()
            torch.cuda.synchronize()
            self._replay = graph.replay

    def __call__(self) -> None:
        self._replay()


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Keep objects that nothing refers to: to free another graph would break a capture."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Stopwatch:
    """The time on a device from the construction of the stopwatch to `stop`."""

    def __init__(self, device: torch.device) -> None:
        self._is_cuda = device.type == "cuda"
        self._begin, self._end = self._now(), self._now()

    def stop(self) -> None:
        """End the measurement at this point of the stream."""
        self._end = self._now()

    def seconds(self) -> float:
        """Wait for the device and return the measured time."""
        if not self._is_cuda:
            return max(float(self._end - self._begin), 1e-9)
        self._end.synchronize()
        return max(float(self._begin.elapsed_time(self._end)) / 1000, 1e-9)

    def _now(self) -> Any:
        if not self._is_cuda:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event
