"""CUDA kernels: compilation by numba-cuda, and launches on the current stream of torch.

A kernel is a Python function for one thread. Its arrays live in torch's memory, so that a network
can read what a kernel wrote. On CPU tensors the same kernels run under Numba's simulator
(NUMBA_ENABLE_CUDASIM=1), one thread after the other: slow, for tests.
"""

import importlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
import torch
from torch import Tensor

from rookery.gpu.memory import cuda, view

Function = TypeVar("Function", bound=Callable[..., Any])

THREADS = 32  # per block: one warp, so that few games still use all multiprocessors
TILE = (THREADS, THREADS + 1)  # padded by one, so that a column lies in different memory banks


def kernel(function: Function) -> Function:
    """Compile a function that every thread of a launch runs; `cuda.grid(1)` is its index."""
    return cast(Function, cuda.jit(cache=True)(function))


def launch(compiled: Any, count: int, *arguments: Any) -> None:
    """Run `count` threads of a kernel, rounded up to whole blocks, on torch's current stream."""
    blocks = -(-count // THREADS)
    if numba.config.ENABLE_CUDASIM:
        compiled[blocks, THREADS](*map(_simulated, arguments))
        return
    stream = cuda.external_stream(torch.cuda.current_stream().cuda_stream)
    compiled[blocks, THREADS, stream](*arguments)


def _simulated(argument: Any) -> Any:
    """Wrap an array in the simulator's type, which is not copied and may have any strides."""
    if not isinstance(argument, np.ndarray):
        return argument
    arrays = importlib.import_module("numba.cuda.simulator.cudadrv.devicearray")
    return arrays.FakeCUDAArray(argument)


def transpose(source: Tensor, target: Tensor) -> None:
    """Copy a float32 matrix to `target`, transposed; faster than torch's strided copy."""
    if not source.is_cuda:
        target.copy_(source.t())
        return
    rows, columns = source.shape
    tiles = -(-rows // THREADS) * -(-columns // THREADS)
    launch(transpose_tile, tiles * THREADS, view(source), view(target))


@kernel
def transpose_tile(source, target):  # type: ignore[no-untyped-def]
    """Transpose one tile per block, with contiguous reads and writes."""
    tile = cuda.shared.array(TILE, numba.float32)
    rows, columns = source.shape
    across = (columns + THREADS - 1) // THREADS
    row, column = cuda.blockIdx.x // across * THREADS, cuda.blockIdx.x % across * THREADS
    lane = cuda.threadIdx.x
    for k in range(THREADS):
        if row + k < rows and column + lane < columns:
            tile[k, lane] = source[row + k, column + lane]
    cuda.syncthreads()
    for k in range(THREADS):
        if column + k < columns and row + lane < rows:
            target[column + k, row + lane] = tile[lane, k]
