"""The precision to learn in: named by the settings, or measured once."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy

import torch
from torch import Tensor, nn

from rookery.learning.timing import fastest_seconds

HOPELESS = 3.0  # emulated bfloat16 takes up to 400 times as long: no need to wait for it
CLEARLY_FASTER = 1.25  # a narrow lead is noise, and a resumed run might choose differently


def choose_precision(
    name: str, net: nn.Module, *, planes_shape: tuple[int, int, int], rows: int
) -> str:
    """Return float32 or bfloat16; `auto` is bfloat16 if clearly faster for batches of `rows`."""
    if name != "auto":
        return name
    if next(net.parameters()).is_cuda:
        return "bfloat16"
    for few in (4, 16, 64):
        if _speedup(net, planes_shape, rows=few) < 1 / HOPELESS:
            return "float32"
    return "bfloat16" if _speedup(net, planes_shape, rows=rows) > CLEARLY_FASTER else "float32"


def autocast(device: torch.device, precision: str) -> torch.autocast:
    """Return the context in which a forward pass computes in `precision`."""
    is_half = precision == "bfloat16"
    # Casts that are cached would not be captured again in a graph.
    return torch.autocast(device.type, torch.bfloat16, enabled=is_half, cache_enabled=False)


def _speedup(net: nn.Module, planes_shape: tuple[int, int, int], *, rows: int) -> float:
    """Return how many times faster than float32 bfloat16 is."""
    planes = torch.zeros(rows, *planes_shape, device=next(net.parameters()).device)
    planes = planes.contiguous(memory_format=torch.channels_last)
    with _same_kernels(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns if the CPU has no bfloat16
        half = _seconds(net, planes, precision="bfloat16")
    return _seconds(net, planes, precision="float32") / half


@contextmanager
def _same_kernels() -> Iterator[None]:
    """Keep torch's choice of CPU kernels while bfloat16 is tried.

    If oneDNN fails at it, torch switches oneDNN off for the whole process: a run that has measured
    would compute other bits than a resumed one.
    """
    before = torch.backends.mkldnn.enabled
    try:
        yield
    finally:
        torch.backends.mkldnn.enabled = before


def _seconds(net: nn.Module, planes: Tensor, *, precision: str) -> float:
    """Return the duration of a forward pass of a copy of `net`."""
    trial = deepcopy(net).train()

    @torch.no_grad()
    def compute() -> None:
        with autocast(planes.device, precision):
            policy, _ = trial(planes)
        policy.sum().item()  # waits for the device

    return fastest_seconds(compute, rounds=2)
