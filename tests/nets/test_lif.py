"""Neurons compared with snntorch's, forward and backward.

Everything is in float64 except snntorch's spikes, which are float32: thresholds and incoming
gradients are numbers that float32 represents exactly.
"""

import pytest
import snntorch
import torch
from snntorch import surrogate
from torch import Tensor

from rookery.nets.lif import SURROGATES, Firing, LeakyFire

THEIRS = {"arctan": surrogate.atan(alpha=2.0), "fast_sigmoid": surrogate.fast_sigmoid(slope=25)}
FIRINGS = [
    Firing(steps=4, decay=0.5, threshold=1.0, surrogate="arctan"),
    Firing(steps=7, decay=0.9, threshold=0.625, surrogate="fast_sigmoid"),
    Firing(steps=1, decay=1.0, threshold=1.5, surrogate="arctan"),
    Firing(steps=3, decay=0.0, threshold=0.25, surrogate="fast_sigmoid"),
]


def draw(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).double()


def leaky(currents: Tensor, firing: Firing) -> tuple[Tensor, Tensor]:
    """Return spikes and membranes of snntorch's neuron over all steps."""
    neuron = snntorch.Leaky(
        beta=torch.tensor(firing.decay, dtype=torch.float64),
        threshold=torch.tensor(firing.threshold, dtype=torch.float64),
        spike_grad=THEIRS[firing.surrogate],
        reset_mechanism="subtract",
    )
    membrane, found = torch.zeros_like(currents.chunk(firing.steps)[0]), []
    for current in currents.chunk(firing.steps):
        spike, membrane = neuron(current, membrane)
        found.append((spike, membrane))
    spikes, membranes = zip(*found, strict=True)
    return torch.cat(spikes), torch.cat(membranes)


@pytest.mark.parametrize("firing", FIRINGS, ids=str)
def test_spikes_and_membranes_equal_snntorchs(firing: Firing) -> None:
    currents = 2 * draw(firing.steps * 5, 3, 4, 4)
    layer = LeakyFire(firing)
    spikes, membranes = leaky(currents, firing)
    torch.testing.assert_close(torch.cat(layer.run(currents)[0]), membranes, rtol=0, atol=1e-14)
    assert torch.equal(layer(currents), spikes.double())
    assert 0.05 < spikes.mean() < 0.95


@pytest.mark.parametrize("firing", FIRINGS, ids=str)
def test_gradients_equal_snntorchs(firing: Firing) -> None:
    currents, weights = (draw(firing.steps * 5, 3, 4, 4, seed=seed) for seed in (1, 2))
    ours, theirs = (currents.clone().requires_grad_() for _ in range(2))
    (LeakyFire(firing)(ours) * weights).sum().backward()
    (leaky(theirs, firing)[0] * weights).sum().backward()
    assert ours.grad is not None and theirs.grad is not None and ours.grad.any()
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", SURROGATES)
def test_a_surrogate_equals_snntorchs_derivative(name: str) -> None:
    excess = torch.linspace(-3, 3, 61, dtype=torch.float64, requires_grad=True)
    THEIRS[name](excess).sum().backward()
    torch.testing.assert_close(SURROGATES[name](excess.detach()), excess.grad)


def test_spikes_are_the_same_with_and_without_gradients() -> None:
    layer, currents = LeakyFire(FIRINGS[0]), draw(8, 3, 4, 4).float()
    assert torch.equal(layer(currents), layer(currents.clone().requires_grad_()).detach())


def test_spikes_keep_the_channels_last_layout() -> None:
    currents = draw(8, 3, 4, 4).to(memory_format=torch.channels_last).requires_grad_()
    spikes = LeakyFire(FIRINGS[0])(currents)
    assert spikes.is_contiguous(memory_format=torch.channels_last)
