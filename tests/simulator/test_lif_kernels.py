"""Neurons by kernels for GPUs compared with those by torch: all steps in one launch."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from rookery.nets.lif import SLOPES, Firing, LeakyFire
from rookery.nets.lif_kernels import (
    BLOCK,
    NEURONS,
    add_and_average,
    add_and_fire,
    fire,
    fire_with_membranes,
    gradients_of_currents,
)

FIRINGS = [
    Firing(steps=4, decay=0.5, threshold=1.0, surrogate="arctan"),
    Firing(steps=7, decay=0.9, threshold=0.625, surrogate="fast_sigmoid"),
    Firing(steps=1, decay=1.0, threshold=1.5, surrogate="arctan"),
    Firing(steps=3, decay=0.0, threshold=0.25, surrogate="fast_sigmoid"),
]
BOARDS = 2
SHAPE = (5, 3, 4)
FIRING = FIRINGS[0]


def draw(rows: int, *, seed: int = 1, shape: tuple[int, ...] = SHAPE) -> Tensor:
    stream = torch.Generator().manual_seed(seed)
    x = 1.5 * torch.randn((rows, *shape), generator=stream)
    return x.contiguous(memory_format=torch.channels_last)


def by_torch(currents: Tensor, weights: Tensor, firing: Firing) -> tuple[Tensor, Tensor, Tensor]:
    """Return spikes, membranes, and gradients of the currents, given those of the spikes."""
    layer, leaf = LeakyFire(firing), currents.clone().requires_grad_()
    spikes = layer(leaf)
    spikes.backward(weights)
    assert leaf.grad is not None
    return spikes.detach(), torch.cat(layer.run(currents)[0]), leaf.grad


@pytest.mark.parametrize("firing", FIRINGS, ids=str)
def test_training_in_float32_equals_torch(firing: Firing) -> None:
    rows = firing.steps * BOARDS
    currents, weights = draw(rows), draw(rows, seed=2)
    expected = by_torch(currents, weights, firing)
    spikes, membranes = fire_with_membranes(currents.clone().requires_grad_(), firing)
    slope = SLOPES[firing.surrogate]  # a steep one would magnify rounding errors of the membranes
    found = gradients_of_currents(weights, expected[1], firing, slope=slope)
    assert torch.equal(spikes, expected[0]) and 0.05 < spikes.mean() < 0.95
    torch.testing.assert_close(membranes, expected[1])
    torch.testing.assert_close(found, expected[2])
    assert spikes.stride() == found.stride() == currents.stride()


@pytest.mark.parametrize("firing", FIRINGS, ids=str)
def test_training_in_bfloat16_rounds_what_float32_gives(firing: Firing) -> None:
    rows, slope = firing.steps * BOARDS, SLOPES[firing.surrogate]
    currents, weights = draw(rows).bfloat16(), draw(rows, seed=2).bfloat16()
    expected = fire_with_membranes(currents.float(), firing)
    spikes, membranes = fire_with_membranes(currents, firing)
    assert torch.equal(spikes.float(), expected[0])
    assert torch.equal(membranes, expected[1].bfloat16())
    gradients = gradients_of_currents(weights, membranes, firing, slope=slope)
    args = (weights.float(), membranes.float(), firing)
    exact = gradients_of_currents(*args, slope=slope).bfloat16()
    assert torch.equal(gradients, exact)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_layer_learns_with_kernels(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    currents, weights = (draw(FIRING.steps * BOARDS, seed=seed).to(dtype) for seed in (1, 2))
    expected = by_torch(currents.float(), weights.float(), FIRING)
    monkeypatch.setattr("rookery.nets.lif.uses_kernels", lambda currents: True)
    leaf = currents.clone().requires_grad_()
    spikes = LeakyFire(FIRING)(leaf)
    spikes.backward(weights.contiguous())
    assert leaf.grad is not None and spikes.dtype == leaf.grad.dtype == dtype
    assert torch.equal(spikes.float(), expected[0])
    torch.testing.assert_close(leaf.grad.float(), expected[2], rtol=0.03, atol=0.01)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_numbers_that_are_not_finite_stay_so(dtype: torch.dtype) -> None:
    numbers = torch.tensor([torch.nan, torch.inf, -torch.inf, 3e38, 0.0, -0.0]).to(dtype)
    one_step = replace(FIRING, steps=1)
    _, membranes = fire_with_membranes(numbers, one_step)
    at_threshold = torch.ones_like(numbers)
    found = gradients_of_currents(numbers, at_threshold, one_step, slope=1.0)
    torch.testing.assert_close(membranes, numbers, rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(found, numbers, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("layout", ["contiguous", "strided", "flat"])
def test_training_accepts_any_memory_layout(layout: str) -> None:
    currents = draw(FIRING.steps * BOARDS)
    if layout == "contiguous":
        currents = currents.contiguous()
    elif layout == "flat":
        currents = currents.flatten(1)
    else:
        currents = currents.transpose(1, 3)
    weights = torch.ones(()).expand(currents.shape)
    expected = by_torch(currents, weights, FIRING)
    spikes, membranes = fire_with_membranes(currents, FIRING)
    found = gradients_of_currents(weights, membranes, FIRING, slope=SLOPES["arctan"])
    assert torch.equal(spikes, expected[0])
    torch.testing.assert_close(found, expected[2])


@pytest.mark.parametrize("width", [1, 3, BLOCK * NEURONS, BLOCK * NEURONS + 1])
def test_every_neuron_has_a_thread(width: int) -> None:
    currents = draw(FIRING.steps, shape=(width, 1, 1))
    assert torch.equal(fire_with_membranes(currents, FIRING)[0], LeakyFire(FIRING)(currents))


def test_no_boards_give_no_spikes() -> None:
    spikes, membranes = fire_with_membranes(draw(0), FIRING)
    assert len(spikes) == len(membranes) == 0
    assert len(fire(draw(0), torch.zeros(5), FIRING, boards=0)) == 0


@pytest.mark.parametrize(
    ("firing", "dtype"),
    [*((firing, torch.float16) for firing in FIRINGS), (FIRING, torch.float32)],
    ids=str,
)
def test_inference_adds_bias_and_skip_connection(firing: Firing, dtype: torch.dtype) -> None:
    layer, rows = LeakyFire(firing), firing.steps * BOARDS
    stem, first, second = (
        draw(count, seed=seed).to(dtype) for seed, count in enumerate((BOARDS, rows, rows))
    )
    bias = torch.linspace(-0.5, 0.5, SHAPE[0])
    shift = bias[:, None, None]

    assert torch.equal(fire(first, bias, firing, boards=BOARDS).float(), layer(first + shift))
    at_all_steps = torch.cat([stem.float()] * firing.steps)
    spikes = fire(stem, torch.zeros(SHAPE[0]), firing, boards=BOARDS)
    assert torch.equal(spikes.float(), layer(at_all_steps))

    currents, spikes = add_and_fire(stem, first, bias, firing)
    expected = at_all_steps + (first + shift)
    assert torch.equal(currents, expected.to(dtype)) and torch.equal(
        spikes.float(), layer(expected)
    )
    again, spikes = add_and_fire(currents, second, bias, firing)
    expected = expected.to(dtype) + (second + shift)
    assert again is currents and torch.equal(again, expected.to(dtype))
    assert torch.equal(spikes.float(), layer(expected))

    means = add_and_average(again, first, bias, firing)
    sums = (again.float() + first + shift).reshape(firing.steps, BOARDS, *SHAPE)
    np.testing.assert_allclose(means, sums.mean(0), atol=1e-5 if dtype == torch.float32 else 1e-2)
    assert means.dtype == dtype and means.is_contiguous(memory_format=torch.channels_last)
