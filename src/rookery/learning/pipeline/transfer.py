"""Transfer of named arrays between ranks that hold one part each: to the root and back.

Arrays are sent one by one, so that a device needs memory for the largest only.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rookery.learning.parallel.group import ROOT, ProcessGroup
from rookery.learning.state import Arrays


def gather_arrays(arrays: Arrays, *, group: ProcessGroup) -> Arrays:
    """Return the arrays of all ranks, in their order, at the root; nothing elsewhere."""
    if group.rank != ROOT:
        _send(arrays, ROOT, group)
        return {}
    whole = dict(arrays)
    for rank in range(1, group.size):
        whole |= _receive(rank, group)
    return whole


def scatter_arrays(
    whole: Mapping[str, NDArray[Any]], parts: Sequence[nn.Module], *, group: ProcessGroup
) -> Arrays:
    """Send each rank its part of the root's unsplit state; return this rank's."""
    if group.rank != ROOT:
        return _receive(ROOT, group)
    for rank in range(1, group.size):
        _send(split_arrays(whole, parts[rank]), rank, group)
    return split_arrays(whole, parts[ROOT])


def split_arrays(arrays: Mapping[str, NDArray[Any]], part: nn.Module) -> Arrays:
    """Return the part of an unsplit learner's state that belongs to `part`."""
    own = part.state_dict().keys()

    def is_own(name: str) -> bool:
        section, _, weight = name.partition(".")
        if section == "optimizer":
            weight = weight.rpartition(".")[0]
        return not weight or weight in own

    return {name: array for name, array in arrays.items() if is_own(name)}


def _send(arrays: Arrays, rank: int, group: ProcessGroup) -> None:
    group.send_json(rank, [(name, array.shape, array.dtype.str) for name, array in arrays.items()])
    for array in arrays.values():
        group.send(torch.from_numpy(np.array(array)), rank)


def _receive(rank: int, group: ProcessGroup) -> Arrays:
    arrays: Arrays = {}
    for name, shape, dtype in group.receive_json(rank):
        arrays[name] = group.receive(torch.from_numpy(np.empty(shape, dtype)), rank).numpy()
    return arrays
