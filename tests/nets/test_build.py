"""Building networks: shapes, parameter counts, seeds and settings."""

from typing import Any

import numpy as np
import pytest
import torch

from rookery.base import ConfigError
from rookery.nets import NetConfig, build_net, count_parameters
from rookery.nets.build import PlanesShape

TICTACTOE = ((2, 3, 3), 9)
CONNECT4 = ((2, 6, 7), 7)
CHESS = ((20, 8, 8), 1858)


@pytest.mark.parametrize(("planes_shape", "num_actions"), [TICTACTOE, CONNECT4, CHESS])
def test_outputs_have_the_shapes_of_the_game(planes_shape: PlanesShape, num_actions: int) -> None:
    net = build_net(NetConfig(width=8, depth=1), planes_shape, num_actions)
    logits, wdl = net(torch.zeros(5, *planes_shape))
    assert logits.shape == (5, num_actions)
    assert wdl.shape == (5, 3)


def test_an_untrained_network_outputs_zero_logits() -> None:
    net = build_net(NetConfig(), *CONNECT4)
    logits, wdl = net(torch.rand(4, 2, 6, 7))
    assert not logits.any()
    assert not wdl.any()


def test_the_number_of_parameters_matches_a_count_by_hand() -> None:
    # stem 2x8x9 + 2x8; one block 2(8x8x9 + 2x8); policy 8x3+3, 27x9+9; value 8x2+2, 18x5+5, 5x3+3
    by_hand = 160 + 1184 + 27 + 252 + 18 + 95 + 18
    config = NetConfig(width=8, depth=1, policy_channels=3, value_width=5)
    assert count_parameters(build_net(config, *TICTACTOE)) == by_hand


def test_a_tower_of_depth_zero_is_the_stem_alone() -> None:
    names = build_net(NetConfig(depth=0), *TICTACTOE).state_dict()
    assert not [name for name in names if name.startswith("blocks")]


def test_equal_seeds_give_equal_weights_and_keep_the_global_generator() -> None:
    before = torch.get_rng_state()
    first, same, other = (
        build_net(NetConfig(), *CONNECT4, seed=s).get_parameter("stem.conv.weight")
        for s in (1, 1, 2)
    )
    assert torch.equal(first, same)
    assert not torch.equal(first, other)
    assert torch.equal(before, torch.get_rng_state())


def test_every_parameter_has_a_gradient_once_the_zero_layers_have_changed() -> None:
    net = build_net(NetConfig(width=8, depth=2), *TICTACTOE)
    torch.nn.init.ones_(net.get_parameter("policy.last.weight"))
    torch.nn.init.ones_(net.get_parameter("value.last.weight"))
    logits, wdl = net(torch.rand(16, 2, 3, 3))
    (logits[:, 0].square().sum() + wdl[:, 0].square().sum()).backward()
    without = [n for n, p in net.named_parameters() if p.grad is None or not p.grad.any()]
    assert without == []


@pytest.mark.parametrize(
    ("field", "value"), [("width", 0), ("depth", -1), ("value_width", 2.5), ("width", True)]
)
def test_an_invalid_size_is_refused_with_its_setting(field: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"net\.{field} is {value}, expected a whole number"):
        NetConfig(**{field: value})


def test_an_unknown_kind_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match=r"net\.kind 'resnett'; did you mean resnet\?"):
        NetConfig(kind="resnett")


def test_numpy_integers_are_refused() -> None:
    eight: Any = np.int64(8)
    with pytest.raises(ConfigError):
        NetConfig(width=eight)  # JSON cannot store it
