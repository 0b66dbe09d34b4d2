"""CUDA kernels for leaky integrate-and-fire neurons (`lif`): all steps in one launch.

A kernel sees the memory of a tensor [S * B, ...] as S * M numbers: M neurons at S steps. A thread
has NEURONS neurons, keeps their membranes in registers in float32, and loops over the steps. Its
neurons are BLOCK apart, so that the threads of a warp read neighbours. At every step it reads the
numbers of all its neurons before it writes any, so that several reads are in flight.

The kernels for inference also do what comes between two convolutions: bias and skip connection.
Those for training need bfloat16, which Numba cannot read. They read and write bits, as integers:
bfloat16 is the upper half of float32.
"""

from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import torch
from torch import Tensor

from rookery.base import compiled
from rookery.gpu import cuda, kernel, launch, view

if TYPE_CHECKING:
    from rookery.nets.lif import Firing

BLOCK = 128
NEURONS = 4
ZERO, ONE = np.float32(0), np.float32(1)
ONE_BITS = np.int32(0x3F800000)
BITS = {torch.float32: (torch.int32, 0), torch.bfloat16: (torch.int16, 16)}
"""Dtypes of training: the integers with their bits, and how many bits of float32 these lack."""


def fire(currents: Tensor, bias: Tensor, firing: "Firing", *, boards: int) -> Tensor:
    """Return the spikes [S * B, C, H, W] of `currents` plus `bias` [C], channels last.

    currents: [S * B, C, H, W], or [B, C, H, W] if they are the same at every step.
    """
    spikes = _empty(currents, firing.steps * boards)
    _launch(fire_biased, (currents, bias, spikes), firing, size=spikes.numel())
    return spikes


def add_and_fire(
    currents: Tensor, change: Tensor, bias: Tensor, firing: "Firing"
) -> tuple[Tensor, Tensor]:
    """Return `currents` plus `change` [S * B, C, H, W] plus `bias`, and their spikes.

    Currents of all steps are changed in place; [B, C, H, W] is for currents as in `fire`.
    """
    sums = currents if len(currents) == len(change) else torch.empty_like(change)
    spikes = torch.empty_like(change)
    _launch(fire_added, (currents, change, bias, sums, spikes), firing, size=change.numel())
    return sums, spikes


def add_and_average(currents: Tensor, change: Tensor, bias: Tensor, firing: "Firing") -> Tensor:
    """Return the mean [B, C, H, W] over the steps of the sums as in `add_and_fire`."""
    means = _empty(change, len(change) // firing.steps)
    _launch(average_added, (currents, change, bias, means), firing, size=change.numel())
    return means


def fire_with_membranes(currents: Tensor, firing: "Firing") -> tuple[Tensor, Tensor]:
    """Return spikes and membranes of currents [S * B, ...], both in the currents' dtype."""
    currents = _dense(currents)
    spikes, membranes = torch.empty_like(currents), torch.empty_like(currents)
    _launch_on_bits(fire_bits, (currents, spikes, membranes), firing)
    return spikes, membranes


def gradients_of_currents(
    gradients: Tensor, membranes: Tensor, firing: "Firing", *, slope: float
) -> Tensor:
    """Return the gradients of the currents, given those of the spikes.

    slope: of the surrogate `firing.surrogate`.
    """
    if gradients.stride() != membranes.stride():
        gradients = torch.empty_like(membranes).copy_(gradients)
    found = torch.empty_like(membranes)
    surrogate = (firing.surrogate == "arctan", np.float32(slope))
    _launch_on_bits(gradient_bits, (gradients, membranes, found), firing, *surrogate)
    return found


def _empty(like: Tensor, rows: int) -> Tensor:
    shape = (rows, *like.shape[1:])
    layout = torch.channels_last
    return torch.empty(shape, dtype=like.dtype, device=like.device, memory_format=layout)


def _dense(x: Tensor) -> Tensor:
    """Return `x` with its rows one after the other in memory."""
    is_dense = x.is_contiguous() or x.is_contiguous(memory_format=torch.channels_last)
    return x if is_dense else x.contiguous()


def _launch(
    function: Any, tensors: tuple[Tensor, ...], firing: "Firing", *more: Any, size: int
) -> None:
    """Run a kernel on the memory of `tensors`, for `size` numbers of all steps together."""
    if size:
        arrays = [view(tensor.as_strided((tensor.numel(),), (1,))) for tensor in tensors]
        numbers = (firing.steps, np.float32(firing.decay), np.float32(firing.threshold))
        count = -(-size // firing.steps // NEURONS)
        launch(function, count, *arrays, *numbers, *more, threads=BLOCK)


def _launch_on_bits(
    function: Any, tensors: tuple[Tensor, ...], firing: "Firing", *more: Any
) -> None:
    """Run a kernel of training on tensors of the same size, dtype and memory layout."""
    integers, shift = BITS[tensors[0].dtype]
    bits = tuple(tensor.detach().view(integers) for tensor in tensors)
    _launch(function, bits, firing, shift, *more, size=bits[0].numel())


@compiled
def read(array: Any, offset: int, first: int, size: int, values: Any) -> None:
    """Read the numbers of one thread's neurons; those past the last neuron are zeros."""
    for k in range(NEURONS):
        i = first + k * BLOCK
        values[k] = np.float32(array[offset + i]) if i < size else ZERO


@compiled
def read_bias(bias: Any, first: int, values: Any) -> None:
    """Read the bias of each of a thread's neurons; channels are the last axis."""
    for k in range(NEURONS):
        values[k] = bias[(first + k * BLOCK) % bias.size]


@compiled
def read_bits(array: Any, shift: int, offset: int, first: int, size: int, values: Any) -> None:
    """Read numbers as `read` does, from their bits."""
    for k in range(NEURONS):
        i = first + k * BLOCK
        bits = np.int32(array[offset + i]) << shift if i < size else np.int32(0)
        values[k] = np.int32(bits).view(np.float32)


@compiled
def rounded(number: Any, shift: int) -> Any:
    """Return the bits of a float32, rounded to the nearest even bfloat16 if `shift` is not 0."""
    bits = np.int64(np.float32(number).view(np.int32))
    if shift > 0 and number == number:  # NaN would become 0
        bits += 0x7FFF + (bits >> shift & 1)
    return bits >> shift


@compiled
def integrate(membrane: Any, current: Any, spike: Any, decay: Any, threshold: Any) -> Any:
    """Return the membrane at the next step."""
    return current + decay * membrane - threshold * spike


@kernel
def fire_biased(currents, bias, spikes, steps, decay, threshold):  # type: ignore[no-untyped-def]
    """Write the spikes of currents plus bias."""
    biases = cuda.local.array(NEURONS, numba.float32)
    values = cuda.local.array(NEURONS, numba.float32)
    membranes = cuda.local.array(NEURONS, numba.float32)
    fired = cuda.local.array(NEURONS, numba.float32)
    size, first = spikes.size // steps, cuda.blockIdx.x * (BLOCK * NEURONS) + cuda.threadIdx.x
    stride = size if currents.size > size else 0
    read_bias(bias, first, biases)
    for k in range(NEURONS):
        membranes[k] = fired[k] = ZERO
    for s in range(steps):
        read(currents, s * stride, first, size, values)
        for k in range(NEURONS):
            i = first + k * BLOCK
            if i < size:
                current = values[k] + biases[k]
                membranes[k] = integrate(membranes[k], current, fired[k], decay, threshold)
                fired[k] = ONE if membranes[k] > threshold else ZERO
                spikes[s * size + i] = fired[k]


@kernel
def fire_added(currents, change, bias, sums, spikes, steps, decay, threshold):  # type: ignore[no-untyped-def]
    """Write currents plus change plus bias, and the spikes of these sums."""
    biases = cuda.local.array(NEURONS, numba.float32)
    values = cuda.local.array(NEURONS, numba.float32)
    changes = cuda.local.array(NEURONS, numba.float32)
    membranes = cuda.local.array(NEURONS, numba.float32)
    fired = cuda.local.array(NEURONS, numba.float32)
    size, first = spikes.size // steps, cuda.blockIdx.x * (BLOCK * NEURONS) + cuda.threadIdx.x
    stride = size if currents.size > size else 0
    read_bias(bias, first, biases)
    for k in range(NEURONS):
        membranes[k] = fired[k] = ZERO
    for s in range(steps):
        read(currents, s * stride, first, size, values)
        read(change, s * size, first, size, changes)
        for k in range(NEURONS):
            i = first + k * BLOCK
            if i < size:
                current = values[k] + (changes[k] + biases[k])
                sums[s * size + i] = current
                membranes[k] = integrate(membranes[k], current, fired[k], decay, threshold)
                fired[k] = ONE if membranes[k] > threshold else ZERO
                spikes[s * size + i] = fired[k]


@kernel
def average_added(currents, change, bias, means, steps, decay, threshold):  # type: ignore[no-untyped-def]
    """Write the mean over the steps of currents plus change plus bias."""
    biases = cuda.local.array(NEURONS, numba.float32)
    values = cuda.local.array(NEURONS, numba.float32)
    changes = cuda.local.array(NEURONS, numba.float32)
    totals = cuda.local.array(NEURONS, numba.float32)
    size, first = means.size, cuda.blockIdx.x * (BLOCK * NEURONS) + cuda.threadIdx.x
    stride = size if currents.size > size else 0
    read_bias(bias, first, biases)
    for k in range(NEURONS):
        totals[k] = ZERO
    for s in range(steps):
        read(currents, s * stride, first, size, values)
        read(change, s * size, first, size, changes)
        for k in range(NEURONS):
            totals[k] += values[k] + changes[k]
    for k in range(NEURONS):
        i = first + k * BLOCK
        if i < size:
            means[i] = totals[k] / np.float32(steps) + biases[k]


@kernel
def fire_bits(currents, spikes, membranes_out, steps, decay, threshold, shift):  # type: ignore[no-untyped-def]
    """Write spikes and membranes."""
    values = cuda.local.array(NEURONS, numba.float32)
    membranes = cuda.local.array(NEURONS, numba.float32)
    fired = cuda.local.array(NEURONS, numba.float32)
    size, first = spikes.size // steps, cuda.blockIdx.x * (BLOCK * NEURONS) + cuda.threadIdx.x
    for k in range(NEURONS):
        membranes[k] = fired[k] = ZERO
    for s in range(steps):
        read_bits(currents, shift, s * size, first, size, values)
        for k in range(NEURONS):
            i = first + k * BLOCK
            if i < size:
                membranes[k] = integrate(membranes[k], values[k], fired[k], decay, threshold)
                fired[k] = ONE if membranes[k] > threshold else ZERO
                membranes_out[s * size + i] = rounded(membranes[k], shift)
                spikes[s * size + i] = ONE_BITS >> shift if fired[k] else 0


@kernel
def gradient_bits(gradients, membranes, found, steps, decay, threshold, shift, is_arctan, slope):  # type: ignore[no-untyped-def]
    """Write the gradients of the currents, from the last step to the first."""
    values = cuda.local.array(NEURONS, numba.float32)
    excess = cuda.local.array(NEURONS, numba.float32)
    totals = cuda.local.array(NEURONS, numba.float32)
    size, first = found.size // steps, cuda.blockIdx.x * (BLOCK * NEURONS) + cuda.threadIdx.x
    for k in range(NEURONS):
        totals[k] = ZERO
    for s in range(steps - 1, -1, -1):
        read_bits(gradients, shift, s * size, first, size, values)
        read_bits(membranes, shift, s * size, first, size, excess)
        for k in range(NEURONS):
            i = first + k * BLOCK
            if i < size:
                x = slope * abs(excess[k] - threshold)
                divisor = ONE + x * x if is_arctan else (ONE + x) * (ONE + x)
                totals[k] = values[k] / divisor + decay * totals[k]
                found[s * size + i] = rounded(totals[k], shift)
