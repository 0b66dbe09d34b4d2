"""A learner's tensors as named arrays, and back, bit for bit."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rookery.base import FileDamaged

Arrays = dict[str, NDArray[Any]]  # weights, moments and counters have different dtypes


def net_tensors(prefix: str, net: nn.Module) -> dict[str, Tensor]:
    """Return the weights and buffers of `net` as `prefix.name`."""
    return {f"{prefix}.{name}": tensor for name, tensor in net.state_dict().items()}


def to_arrays(tensors: Mapping[str, Tensor]) -> Arrays:
    """Return copies in host memory."""
    return {name: _array(tensor) for name, tensor in tensors.items()}


def fill_net(prefix: str, net: nn.Module, *, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Copy the arrays of `net_tensors` into `net`, in place."""
    for name, tensor in net.state_dict().items():
        fill(tensor, f"{prefix}.{name}", arrays)


def _array(tensor: Tensor) -> NDArray[Any]:
    return np.array(tensor.detach().cpu().contiguous().numpy())


@torch.no_grad()
def fill(tensor: Tensor, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Copy the array `name` into `tensor`; FileDamaged if it does not fit or is not finite."""
    wanted = torch.empty(0, dtype=tensor.dtype).numpy().dtype
    found = arrays.get(name)
    if found is None or (found.dtype, found.shape) != (wanted, tensor.shape):
        raise FileDamaged(
            f"the learner's {name} should have shape {list(tensor.shape)} of {wanted}, got "
            f"{'nothing' if found is None else f'{list(found.shape)} of {found.dtype}'}; "
            "resume with the net.* settings the run was started with"
        )
    if not np.isfinite(found).all():
        raise FileDamaged(
            f"the learner's {name} has numbers that are not finite; restore it from a copy"
        )
    tensor.copy_(torch.from_numpy(np.array(found)))
