"""Leaky integrate-and-fire neurons over S steps, with surrogate gradients.

    membrane[s] = decay * membrane[s - 1] + current[s] - threshold * spike[s - 1]
    spike[s]    = 1 if membrane[s] > threshold, else 0

A spike lowers the membrane at the next step (reset by subtraction). The derivative of a spike is
zero almost everywhere, so the backward pass uses that of a smooth function, the surrogate; no
gradient passes through the reset. The tests compare all of this with snntorch's `Leaky`.

The steps are concatenated along the batch: rows [s * B, (s + 1) * B) of [S * B, ...] are step s,
so convolutions and batch norm process all steps at once. On a GPU, training runs all steps in one
kernel forward and one backward (`lif_kernels`); membranes are then float32 between steps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import Any

import torch
from torch import Tensor, nn

from rookery.nets import lif_kernels

SLOPES = {"arctan": pi, "fast_sigmoid": 25.0}


def arctan(excess: Tensor) -> Tensor:
    """Return the derivative of arctan(pi * x) / pi, 1 at the threshold (Fang and others, 2021)."""
    return (1 + (SLOPES["arctan"] * excess).square()).reciprocal()


def fast_sigmoid(excess: Tensor) -> Tensor:
    """Return the derivative of x / (1 + 25 |x|) (Zenke and Ganguli, 2018)."""
    return (1 + SLOPES["fast_sigmoid"] * excess.abs()).square().reciprocal()


SURROGATES: dict[str, Callable[[Tensor], Tensor]] = {"arctan": arctan, "fast_sigmoid": fast_sigmoid}
"""Derivatives of a spike, given how far the membrane is above the threshold."""


@dataclass(frozen=True)
class Firing:
    """Parameters of the neurons."""

    steps: int
    decay: float
    """Share of the membrane that remains after one step."""
    threshold: float
    surrogate: str
    """A name in `SURROGATES`."""


class LeakyFire(nn.Module):
    """A layer of neurons: currents [S * B, ...] in, spikes [S * B, ...] out, each 0 or 1."""

    def __init__(self, firing: Firing) -> None:
        super().__init__()
        self.firing = firing
        self.steps = firing.steps
        self.decay = firing.decay
        self.threshold = firing.threshold
        self.surrogate = SURROGATES[firing.surrogate]

    def forward(self, currents: Tensor) -> Tensor:
        if torch.is_grad_enabled() and currents.requires_grad:
            spikes: Tensor = _Fire.apply(currents, self)  # type: ignore[no-untyped-call]
            return spikes
        return torch.cat(self.run(currents)[1])

    def run(self, currents: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Return membranes and spikes: one tensor [B, ...] per step."""
        membranes: list[Tensor] = []
        spikes: list[Tensor] = []
        boards = currents.shape[0] // self.steps  # with `chunk`, exporters make B a constant
        for membrane in currents.reshape(self.steps, boards, *currents.shape[1:]).unbind():
            if membranes:
                membrane = torch.add(membrane, membranes[-1], alpha=self.decay)
                membrane.sub_(spikes[-1], alpha=self.threshold)
            membranes.append(membrane)
            spikes.append((membrane > self.threshold).to(membrane.dtype))
        return membranes, spikes


def uses_kernels(currents: Tensor) -> bool:
    """Return whether to train with CUDA kernels; torch.compile fuses the steps by itself."""
    is_possible = currents.is_cuda and currents.dtype in lif_kernels.BITS
    return is_possible and not torch.compiler.is_compiling()


class _Fire(torch.autograd.Function):
    """Spikes with the surrogate's gradients, back through all steps."""

    @staticmethod
    def forward(ctx: Any, currents: Tensor, layer: LeakyFire) -> Tensor:
        if uses_kernels(currents):
            spikes, membranes = lif_kernels.fire_with_membranes(currents, layer.firing)
        else:
            of_steps, spikes_of_steps = layer.run(currents)
            membranes, spikes = torch.cat(of_steps), torch.cat(spikes_of_steps)
        ctx.save_for_backward(membranes)
        ctx.layer = layer
        return spikes

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (membranes,), layer = ctx.saved_tensors, ctx.layer
        if uses_kernels(membranes):
            slope = SLOPES[layer.firing.surrogate]
            found = lif_kernels.gradients_of_currents(
                gradient, membranes, layer.firing, slope=slope
            )
            return found, None
        direct = gradient * layer.surrogate(membranes - layer.threshold)
        last, *others = reversed(direct.chunk(layer.steps))
        gradients = [last]
        for step in others:
            gradients.append(torch.add(step, gradients[-1], alpha=layer.decay))
        return torch.cat(gradients[::-1]), None
