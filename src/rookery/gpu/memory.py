"""Arrays that torch and kernels share: torch owns the memory, kernels see device arrays."""

from typing import Any, cast

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

# Set here and not in the environment: a changed NUMBA_ variable makes Numba reload all settings.
numba.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
if not hasattr(np, "row_stack"):
    np.row_stack = np.vstack  # numba-cuda 0.30 expects it, NumPy 2.5 has removed it

from numba import cuda as _cuda  # noqa: E402

cuda: Any = _cuda
Array = Any
"""What a kernel takes: a device array of numba-cuda, or a NumPy array in the simulator."""


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


def _bytes(array: Array) -> Tensor:
    """Return the memory of a contiguous device array; copies then use torch's stream."""
    return as_tensor(array.reshape(array.size).view(np.dtype(np.uint8)))
