"""Parts of a network that are frozen, by name."""

import pytest
from torch import nn

from rookery.base import ConfigError
from rookery.nets import NetConfig, build_net, check_parts, freeze, frozen_tensors

SMALL = NetConfig(width=4, depth=2)


def small_net() -> nn.Module:
    return build_net(SMALL, (2, 3, 3), 9)


def learning(net: nn.Module) -> set[str]:
    return {name.split(".")[0] for name, weight in net.named_parameters() if weight.requires_grad}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ((), {"stem", "blocks", "policy", "value"}),
        (("tower",), {"policy", "value"}),
        (("stem", "value"), {"blocks", "policy"}),
        (("blocks.0",), {"stem", "blocks", "policy", "value"}),
    ],
)
def test_frozen_parts_have_no_gradients(names: tuple[str, ...], expected: set[str]) -> None:
    net = small_net()
    freeze(net, names)
    assert learning(net) == expected


def test_a_frozen_part_keeps_the_statistics_of_its_norms() -> None:
    net = small_net().train()
    freeze(net, ("blocks.0",))
    assert not net.get_submodule("blocks.0.first.norm").training
    assert net.get_submodule("blocks.1.first.norm").training
    assert "blocks.0.second.norm.running_var" in frozen_tensors(net, ("blocks.0",))
    assert all(name.startswith("blocks.0.") for name in frozen_tensors(net, ("blocks.0",)))


def test_names_that_freeze_nothing_or_everything_are_refused() -> None:
    check_parts(("tower", "policy"), SMALL)
    with pytest.raises(
        ConfigError, match=r"no part 'towr', expected tower, .*blocks\.0 to blocks\.1"
    ):
        check_parts(("towr",), SMALL)
    with pytest.raises(ConfigError, match=r"no part 'blocks\.2'"):
        check_parts(("blocks.2",), SMALL)
    every_part = ("stem", "blocks.0", "blocks.1", "policy", "value")
    for names in (("tower", "policy", "value"), every_part):
        with pytest.raises(ConfigError, match="names the whole network"):
            check_parts(names, SMALL)
