"""What is left of a group in the network after a rank has left it."""

import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import distributed
from torch.distributed import HashStore  # type: ignore[attr-defined]

from rookery.learning import LearningConfig, ProcessGroup, RankSpec
from rookery.learning.gradients import GradientComputer
from rookery.learning.parallel.ddp import DdpGradients
from rookery.replay import Batch, Window
from tiny_net import TinyNet

CONFIG = LearningConfig(batch_size=32, precision="float32", method="distributed")


@pytest.fixture
def group() -> Iterator[ProcessGroup]:
    """A group of this process alone, for which torch believes that there are others."""
    distributed.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
    yield ProcessGroup(RankSpec(HashStore(), generation=0, rank=0, size=1))
    distributed.destroy_process_group()


def draw(window: Window) -> Batch:
    card, offsets = np.zeros(1, np.int64), np.arange(32)
    return window.batch(card, offsets, stream=np.uint64(9), result_mix=0.5)


def test_a_broken_backward_pass_does_not_disturb_the_next_group(
    group: ProcessGroup, make_net: Callable[..., TinyNet], window: Window
) -> None:
    net, batch = make_net(norm=False), draw(window)
    broken = DdpGradients(net, group=group, config=CONFIG, precision="float32")
    old = weakref.ref(broken._forward)

    def fail(gradient: torch.Tensor) -> None:
        raise RuntimeError("the connection is lost")

    broken.gradients(batch)
    hook = net.conv.weight.register_hook(fail)  # type: ignore[no-untyped-call]
    with pytest.raises(Exception, match="the connection is lost"):
        broken.gradients(batch)
    hook.remove()
    broken.close()
    assert old() is None
    alone = GradientComputer(net, config=replace(CONFIG, method="single"), precision="float32")
    for _ in range(2):
        alone.gradients(batch)
