"""Operations per evaluation compared with counts by plain loops."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rookery.nets import Ensemble, NetConfig, Operations, build_net, count_operations
from rookery.nets.lif import LeakyFire

PLANES, HEIGHT, WIDTH, ACTIONS = 2, 3, 4, 5
SHAPE = (PLANES, HEIGHT, WIDTH)
CHANNELS, DEPTH, STEPS = 3, 2, 2
SPIKING = NetConfig(
    "spiking", CHANNELS, DEPTH, policy_channels=2, value_width=6, steps=STEPS, threshold=0.5
)
RESIDUAL = NetConfig("resnet", CHANNELS, DEPTH, policy_channels=2, value_width=6)
BOARDS = 4


def boards() -> Tensor:
    stones = np.random.default_rng(3).random((BOARDS, *SHAPE)) < 0.5
    return torch.from_numpy(stones.astype(np.float32))


def new_net(config: NetConfig) -> nn.Module:
    return build_net(config, SHAPE, ACTIONS, seed=1).eval()


def neighbours(row: int, column: int) -> int:
    """Return the number of cells of the board in the 3x3 square around a cell."""
    rows = [r for r in range(row - 1, row + 2) if 0 <= r < HEIGHT]
    columns = [c for c in range(column - 1, column + 2) if 0 <= c < WIDTH]
    return len(rows) * len(columns)


def conv_size(channels_in: int) -> int:
    cells = [(row, column) for row in range(HEIGHT) for column in range(WIDTH)]
    return sum(channels_in * CHANNELS * neighbours(*cell) for cell in cells)


def size_outside_of_blocks() -> int:
    """Return the multiply-accumulates of stem and heads."""
    cells = HEIGHT * WIDTH
    policy = cells * CHANNELS * 2 + 2 * cells * ACTIONS
    value = cells * CHANNELS * 2 + 2 * cells * 6 + 6 * 3
    return conv_size(PLANES) + policy + value


@torch.no_grad()
def additions_by_loops(net: nn.Module, planes: Tensor) -> int:
    """Add one for every spike and every output that reads it."""
    found: list[Tensor] = []
    for module in net.modules():
        if isinstance(module, LeakyFire):
            module.register_forward_hook(lambda layer, args, spikes: found.append(spikes))
    net(planes)
    assert len(found) == 2 * DEPTH
    return sum(
        CHANNELS * neighbours(row, column)
        for spikes in found
        for _, _, row, column in spikes.nonzero().tolist()
    )


def test_operations_equal_a_count_by_loops() -> None:
    found = count_operations(new_net(SPIKING), boards())
    blocks = 2 * DEPTH * conv_size(CHANNELS)
    assert found.residual == Operations(size_outside_of_blocks() + blocks, 0)
    neurons = 2 * DEPTH * CHANNELS * HEIGHT * WIDTH
    assert found.spiking.multiply_accumulates == size_outside_of_blocks() + neurons * STEPS
    expected = additions_by_loops(new_net(SPIKING), boards())
    assert found.spiking.additions == pytest.approx(expected / BOARDS) and expected > 0
    assert found.spiking.additions < STEPS * blocks


def test_a_residual_network_has_the_operations_it_is_compared_with() -> None:
    found = count_operations(new_net(RESIDUAL), boards())
    assert found.spiking == found.residual
    assert found.residual == count_operations(new_net(SPIKING), boards()).residual


def test_the_members_of_an_ensemble_add_up() -> None:
    members = [new_net(SPIKING), new_net(RESIDUAL)]
    one, other = (count_operations(member, boards()) for member in members)
    both = count_operations(Ensemble(members), boards())
    assert both.residual.multiply_accumulates == 2 * one.residual.multiply_accumulates
    assert both.spiking.additions == pytest.approx(one.spiking.additions)
    sums = one.spiking.multiply_accumulates + other.spiking.multiply_accumulates
    assert both.spiking.multiply_accumulates == sums


def test_energy_is_that_of_both_kinds_of_operation() -> None:
    assert Operations(1e6, 0).microjoules == pytest.approx(4.6)
    assert Operations(0, 1e6).microjoules == pytest.approx(0.9)
    assert Operations(2e6, 1e6).microjoules == pytest.approx(10.1)
