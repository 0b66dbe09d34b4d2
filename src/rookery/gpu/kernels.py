"""Memory that torch and kernels share, launches on torch's stream, and captured graphs.

Kernels are Python functions about one thread, compiled by numba-cuda; arrays live in torch's
memory, so that a net can read what a kernel wrote. On tensors of the CPU the same kernels run under
Numba's simulator (NUMBA_ENABLE_CUDASIM=1), one thread after the other: slow, and good for tests.
"""

import importlib
import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

# Not by the environment: a changed NUMBA_ variable makes Numba read all settings anew.
numba.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
if not hasattr(np, "row_stack"):
    np.row_stack = np.vstack  # numba-cuda 0.30 asks NumPy 2.5 for it

from numba import cuda as _cuda  # noqa: E402

Function = TypeVar("Function", bound=Callable[..., Any])
cuda: Any = _cuda
Array = Any
"""What a kernel takes: a device array of numba-cuda, or a NumPy array in the simulator."""

THREADS = 32  # a block: one warp, so that few games still spread over all multiprocessors
TILE = (THREADS, THREADS + 1)  # one more, so that a column lies in different banks
WARM_UPS = 3


def kernel(function: Function) -> Function:
    """Compile a function that every thread of a launch runs; `cuda.grid(1)` is its number."""
    return cast(Function, cuda.jit(cache=True)(function))


def launch(compiled: Any, count: int, *arguments: Any) -> None:
    """Run `count` threads of a kernel, and up to a block more, on torch's current stream."""
    blocks = -(-count // THREADS)
    if numba.config.ENABLE_CUDASIM:
        compiled[blocks, THREADS](*map(_in_simulator, arguments))
        return
    stream = cuda.external_stream(torch.cuda.current_stream().cuda_stream)
    compiled[blocks, THREADS, stream](*arguments)


def _in_simulator(argument: Any) -> Any:
    """An array as the simulator's own, which is not copied to and fro and may have any strides."""
    if not isinstance(argument, np.ndarray):
        return argument
    arrays = importlib.import_module("numba.cuda.simulator.cudadrv.devicearray")
    return arrays.FakeCUDAArray(argument)


def transpose(source: Tensor, target: Tensor) -> None:
    """Copy float32 numbers [R, C] to [C, R]; torch's own copy jumps from row to row."""
    if not source.is_cuda:
        target.copy_(source.t())
        return
    rows, columns = source.shape
    tiles = -(-rows // THREADS) * -(-columns // THREADS)
    launch(transpose_tile, tiles * THREADS, view(source), view(target))


@kernel
def transpose_tile(source, target):  # type: ignore[no-untyped-def]
    """A block's tile: its rows are read, and its columns written, in one piece each."""
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
    """A kernel's array of zeros of any dtype, records too."""
    kind = np.dtype(dtype)
    kind = np.dtype((np.record, kind)) if kind.names else kind
    size = int(np.prod(shape)) * kind.itemsize
    return view(torch.zeros(size, dtype=torch.uint8, device=device), kind).reshape(shape)


def view(tensor: Tensor, dtype: np.dtype[Any] | None = None) -> Array:
    """A kernel's view of `tensor`; a flat one may be read as another dtype."""
    array = cuda.as_cuda_array(tensor) if tensor.is_cuda else tensor.numpy()
    return array if dtype is None else array.view(dtype)


def to_host(array: Array) -> NDArray[Any]:
    """A copy in the host's memory."""
    return cast(NDArray[Any], array.copy() if isinstance(array, np.ndarray) else _fetched(array))


def copy_in(array: Array, values: NDArray[Any]) -> None:
    """Overwrite a kernel's array with `values` of its shape and dtype."""
    if isinstance(array, np.ndarray):
        array[...] = values
    else:
        flat = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        _bytes(array).copy_(torch.from_numpy(flat))


def as_tensor(array: Array) -> Tensor:
    """Torch's view of a kernel's array of plain numbers."""
    return torch.from_numpy(array) if isinstance(array, np.ndarray) else torch.as_tensor(array)


def _fetched(array: Array) -> NDArray[Any]:
    host = _bytes(array).cpu().numpy()
    return cast(NDArray[Any], host.view(array.dtype).reshape(array.shape))


def _bytes(array: Array) -> Tensor:
    """The memory of a contiguous device array, on torch's stream like everything else."""
    return as_tensor(array.reshape(array.size).view(np.dtype(np.uint8)))


class Graph:
    """A function whose work on the GPU is captured once and replayed; on the CPU, just called.

    What it launches must read and write the same memory every time.
    """

    def __init__(self, function: Callable[[], None], device: torch.device) -> None:
        self._replay = function
        self.calls = 0
        """How often the function has run for the capture's sake."""
        if device.type == "cuda":
            for _ in range(WARM_UPS):
                function()
            self.calls = WARM_UPS
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                function()
            torch.cuda.synchronize()
            self._replay = graph.replay

    def __call__(self) -> None:
        self._replay()


class Stopwatch:
    """Measures, on the device, the time from its making to `stop`."""

    def __init__(self, device: torch.device) -> None:
        self._is_cuda = device.type == "cuda"
        self._begin, self._end = self._now(), self._now()

    def stop(self) -> None:
        """End the measurement here in the stream."""
        self._end = self._now()

    def seconds(self) -> float:
        """What was measured; waits for the device."""
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
