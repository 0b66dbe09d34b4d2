"""What a second thread is worth to a single learner, found out by trying."""

import os
import time
from copy import deepcopy

import torch
from torch import nn
from torch.nn.utils import convert_conv2d_weight_memory_format

ROUNDS = 3


def thread_speedup(net: nn.Module, planes_shape: tuple[int, int, int], *, rows: int) -> float:
    """How many times as fast as one thread all cores are, at gradients of a batch of `rows`."""
    before = torch.get_num_threads()
    trial = convert_conv2d_weight_memory_format(deepcopy(net), torch.channels_last).train()
    planes = torch.rand(rows, *planes_shape).contiguous(memory_format=torch.channels_last)
    try:
        alone, together = (
            min(_seconds(trial, planes, threads) for _ in range(ROUNDS))
            for threads in (1, os.cpu_count() or 1)
        )
    finally:
        torch.set_num_threads(before)
    return alone / together


def _seconds(net: nn.Module, planes: torch.Tensor, threads: int) -> float:
    torch.set_num_threads(threads)
    begin = time.perf_counter()
    policy, value = net(planes)
    torch.autograd.backward(policy.sum() + value.sum())
    return time.perf_counter() - begin
