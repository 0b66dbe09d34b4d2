"""Parts of a network that learning leaves as they are, by name.

A frozen part has no gradients, so that no optimizer changes it, and its batch norms neither use nor
update statistics of the batch.
"""

from collections.abc import Sequence

from torch import nn

from rookery.base import ConfigError
from rookery.nets.build import NetConfig

TOWER = ("stem", "blocks")
HEADS = ("policy", "value")


def check_parts(names: Sequence[str], config: NetConfig) -> None:
    """Raise ConfigError unless `names` are parts of such a network that leave others to learn."""
    blocks = [f"blocks.{number}" for number in range(config.depth)]
    for name in names:
        if name not in ("tower", *TOWER, *blocks, *HEADS):
            each = f"blocks.0 to {blocks[-1]}, " if blocks else ""
            raise ConfigError(
                f"learning.freeze: the network has no part {name!r}, expected tower, stem, "
                f"blocks, {each}policy or value"
            )
    frozen = _modules(names)
    if {"stem", *HEADS} <= frozen and ("blocks" in frozen or frozen.issuperset(blocks)):
        raise ConfigError("learning.freeze names the whole network; leave out a part that learns")


def freeze(net: nn.Module, names: Sequence[str]) -> None:
    """Freeze the parts of `net` that have these names; a part of a network may lack some."""
    frozen = _modules(names)
    for name, module in net.named_modules():
        if name in frozen:
            module.eval().requires_grad_(False)


def frozen_tensors(net: nn.Module, names: Sequence[str]) -> list[str]:
    """Return the names of the weights and buffers of the frozen parts."""
    starts = tuple(f"{name}." for name in _modules(names))
    return [name for name in net.state_dict() if name.startswith(starts)]


def _modules(names: Sequence[str]) -> set[str]:
    return {*names, *(TOWER if "tower" in names else ())}
