"""Short measurements that decide how to learn on this machine."""

import time
from collections.abc import Callable
from copy import deepcopy

import torch
from torch import nn
from torch.nn.utils import convert_conv2d_weight_memory_format

from rookery.base import available_cores

ROUNDS = 3


def fastest_seconds(function: Callable[[], object], rounds: int) -> float:
    """Return the shortest duration of `rounds` calls; the first ones warm caches up."""

    def seconds() -> float:
        begin = time.perf_counter()
        function()
        return time.perf_counter() - begin

    return min(seconds() for _ in range(rounds))


def thread_speedup(net: nn.Module, planes_shape: tuple[int, int, int], *, rows: int) -> float:
    """Return how many times faster than one thread all cores compute gradients of `rows` rows."""
    before = torch.get_num_threads()
    trial = convert_conv2d_weight_memory_format(deepcopy(net), torch.channels_last).train()
    planes = torch.rand(rows, *planes_shape).contiguous(memory_format=torch.channels_last)

    def compute() -> None:
        policy, value = trial(planes)
        torch.autograd.backward(policy.sum() + value.sum())

    durations = []
    try:
        for threads in (1, available_cores()):
            torch.set_num_threads(threads)
            durations.append(fastest_seconds(compute, ROUNDS))
    finally:
        torch.set_num_threads(before)
    return durations[0] / durations[1]
