"""CUDA kernels: compilation by numba-cuda, launches on torch's current stream, and their arrays.

A kernel is a Python function for one thread. Its arrays live in torch's memory, so that a network
can read what a kernel wrote. On CPU tensors the same kernels run under Numba's simulator
(NUMBA_ENABLE_CUDASIM=1), one thread after the other: slow, for tests.
"""

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rookery.base import use_kernel_files

# Set here and not in the environment: a changed NUMBA_ variable makes Numba reload all settings.
numba.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
if not hasattr(np, "row_stack"):
    np.row_stack = np.vstack  # numba-cuda 0.30 expects it, NumPy 2.5 has removed it

from numba import cuda as _cuda  # noqa: E402

cuda: Any = _cuda
Array = Any
"""What a kernel takes: a device array of numba-cuda, or a NumPy array in the simulator."""
Function = TypeVar("Function", bound=Callable[..., Any])

THREADS = 32  # per block: one warp, so that few games still use all multiprocessors
TILE = (THREADS, THREADS + 1)  # padded by one, so that a column lies in different memory banks
Launches = list[tuple[Any, tuple[Any, ...]]]
"""Kernels, and the types of the arguments with which they would be launched."""
_noted: Launches | None = None


def kernel(function: Function) -> Function:
    """Compile a function that every thread of a launch runs; `cuda.grid(1)` is its index."""
    found = cuda.jit(cache=True)(function)
    use_kernel_files(found)
    return cast(Function, found)


def launch(compiled: Any, count: int, *arguments: Any, threads: int = THREADS) -> None:
    """Run `count` threads of a kernel, rounded up to whole blocks, on torch's current stream."""
    if _noted is not None:
        _noted.append((compiled, tuple(map(compiled.typeof_pyval, arguments))))
        return
    blocks = -(-count // threads)
    if numba.config.ENABLE_CUDASIM:
        compiled[blocks, threads](*map(_simulated, arguments))
        return
    stream = cuda.external_stream(torch.cuda.current_stream().cuda_stream)
    compiled[blocks, threads, stream](*arguments)


@contextmanager
def noted_launches() -> Iterator[Launches]:
    """Have launches be noted instead, with arguments on the CPU, so that they can be compiled."""
    global _noted
    launches: Launches = []
    _noted = launches
    try:
        yield launches
    finally:
        _noted = None


def launches_on(device: torch.device) -> bool:
    """Return whether work on arrays of a device is done, or noted, by kernels."""
    return device.type == "cuda" or _noted is not None


def _simulated(argument: Any) -> Any:
    """Wrap an array in the simulator's type, which is not copied and may have any strides."""
    if not isinstance(argument, np.ndarray):
        return argument
    arrays = importlib.import_module("numba.cuda.simulator.cudadrv.devicearray")
    return arrays.FakeCUDAArray(argument)


def transpose(source: Tensor, target: Tensor) -> None:
    """Copy a float32 matrix to `target`, transposed; faster than torch's strided copy."""
    if not launches_on(source.device):
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


def zeros(device: torch.device, dtype: Any, *shape: int) -> Array:
    """Return a kernel array of zeros of any dtype, including records."""
    kind = np.dtype(dtype)
    kind = np.dtype((np.record, kind)) if kind.names else kind
    size = int(np.prod(shape)) * kind.itemsize
    return view(torch.zeros(size, dtype=torch.uint8, device=device), kind).reshape(shape)


def view(tensor: Tensor, dtype: np.dtype[Any] | None = None) -> Array:
    """Return a kernel's view of `tensor`; a flat tensor can be viewed as another dtype."""
    array = cuda.as_cuda_array(tensor) if tensor.is_cuda else tensor.numpy()
    return array if dtype is None else array.view(dtype)


def as_tensor(array: Array) -> Tensor:
    """Return torch's view of a kernel array of plain numbers."""
    return torch.from_numpy(array) if isinstance(array, np.ndarray) else torch.as_tensor(array)


def to_host(array: Array) -> NDArray[Any]:
    """Return a copy in host memory."""
    if isinstance(array, np.ndarray):
        return array.copy()
    host = _bytes(array).cpu().numpy()
    return cast(NDArray[Any], host.view(array.dtype).reshape(array.shape))


def copy_in(array: Array, values: NDArray[Any]) -> None:
    """Overwrite a kernel array with `values` of the same shape and dtype."""
    if isinstance(array, np.ndarray):
        array[...] = values
    else:
        flat = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        _bytes(array).copy_(torch.from_numpy(flat))


def send(array: Array, values: NDArray[Any]) -> None:
    """Enqueue what `copy_in` does; the host does not wait for the device."""
    if isinstance(array, np.ndarray):
        array[...] = values
    else:
        flat = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        _bytes(array).copy_(torch.from_numpy(flat).pin_memory(), non_blocking=True)


def _bytes(array: Array) -> Tensor:
    """Return the memory of a contiguous device array; copies then use torch's stream."""
    return as_tensor(array.reshape(array.size).view(np.dtype(np.uint8)))
