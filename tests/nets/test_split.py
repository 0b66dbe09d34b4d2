"""Networks split into parts: their outputs in sequence, and their sizes."""

import pytest
import torch
from torch import nn

from rookery.base import ConfigError
from rookery.nets import NetConfig, build_net, count_parameters, split_net
from rookery.nets.split import balanced_cuts

SHAPE, ACTIONS = (2, 3, 3), 9


def make_net(depth: int, kind: str = "resnet") -> nn.Module:
    return build_net(NetConfig(kind, width=16, depth=depth), SHAPE, ACTIONS, seed=4)


@pytest.mark.parametrize("kind", ["resnet", "spiking"])
@pytest.mark.parametrize(("depth", "num_parts"), [(0, 1), (0, 2), (3, 2), (3, 5), (6, 4)])
def test_parts_in_sequence_equal_the_whole_network(depth: int, num_parts: int, kind: str) -> None:
    net = make_net(depth, kind)
    torch.nn.init.normal_(net.get_parameter("policy.last.weight"))
    x = planes = torch.rand(4, *SHAPE)
    parts = [split_net(net, part, num_parts=num_parts) for part in range(num_parts)]
    for part in parts:
        x = part(x)
    for found, expected in zip(x, net(planes), strict=True):
        assert torch.allclose(found, expected, atol=1e-5)


def test_parts_keep_the_names_and_order_of_the_layers() -> None:
    parts = [split_net(make_net(5), part, num_parts=3) for part in range(3)]
    names = [name for part in parts for name in part.state_dict()]
    assert names == list(make_net(5).state_dict())


@pytest.mark.parametrize("num_parts", [2, 3, 4])
def test_parts_have_about_equal_sizes(num_parts: int) -> None:
    net = make_net(12)
    sizes = [count_parameters(split_net(net, i, num_parts=num_parts)) for i in range(num_parts)]
    assert sum(sizes) == count_parameters(net)
    assert max(sizes) <= count_parameters(net) / num_parts + count_parameters(
        net.get_submodule("blocks.0")
    )


def test_cuts_minimise_the_sum_of_squares() -> None:
    assert balanced_cuts((1, 10, 10, 10, 10, 1), 2) == (3,)
    assert balanced_cuts((100, 1, 1), 3) == (1, 2)
    assert balanced_cuts((3, 3, 3, 9), 2) == (3,)
    assert balanced_cuts((5,), 1) == ()


def test_more_parts_than_layers_are_refused() -> None:
    with pytest.raises(ConfigError, match="a network with 4 layers"):
        split_net(make_net(2), 0, num_parts=5)
    with pytest.raises(ConfigError, match="Linear cannot be split"):
        split_net(nn.Linear(1, 1), 0, num_parts=1)
