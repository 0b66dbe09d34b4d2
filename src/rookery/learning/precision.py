"""In which precision to learn: decided by a name, or by measuring once."""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy

import torch
from torch import Tensor, nn

HOPELESS = 3.0  # where bfloat16 is emulated it takes up to 400 times as long: no need to wait
CLEARLY_FASTER = 1.25  # a narrow lead is noise, and would not survive a resume


def choose_precision(
    name: str, net: nn.Module, *, planes_shape: tuple[int, int, int], rows: int
) -> str:
    """float32 or bfloat16; `auto` is bfloat16 where it is clearly faster for batches of `rows`."""
    if name != "auto":
        return name
    if next(net.parameters()).is_cuda:
        return "bfloat16"
    for few in (4, 16, 64):
        if _gain(net, planes_shape, rows=few) < 1 / HOPELESS:
            return "float32"
    return "bfloat16" if _gain(net, planes_shape, rows=rows) > CLEARLY_FASTER else "float32"


def autocast(device: torch.device, precision: str) -> torch.autocast:
    """The context in which a forward pass computes in `precision`."""
    is_half = precision == "bfloat16"
    # Casts that are cached would not be captured again in a graph.
    return torch.autocast(device.type, torch.bfloat16, enabled=is_half, cache_enabled=False)


def _gain(net: nn.Module, planes_shape: tuple[int, int, int], *, rows: int) -> float:
    """How many times as fast as float32 bfloat16 is."""
    planes = torch.zeros(rows, *planes_shape, device=next(net.parameters()).device)
    planes = planes.contiguous(memory_format=torch.channels_last)
    with _same_kernels(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a CPU without bfloat16 says so; the clock does too
        half = _seconds(net, planes, precision="bfloat16")
    return _seconds(net, planes, precision="float32") / half


@contextmanager
def _same_kernels() -> Iterator[None]:
    """Keep torch's choice of CPU kernels while bfloat16 is tried.

    Where oneDNN fails at it, torch switches oneDNN off for the whole process: a run that has
    measured would compute other bits than one resumed.
    """
    before = torch.backends.mkldnn.enabled
    try:
        yield
    finally:
        torch.backends.mkldnn.enabled = before


@torch.no_grad()
def _seconds(net: nn.Module, planes: Tensor, *, precision: str) -> float:
    """Time of a forward pass of a copy of `net`, the second of two."""
    trial = deepcopy(net).train()
    for _ in range(2):
        begin = time.perf_counter()
        with autocast(planes.device, precision):
            policy, _ = trial(planes)
        policy.sum().item()  # waits for the device
    return time.perf_counter() - begin
