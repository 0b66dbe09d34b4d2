"""Choosing a precision by measuring."""

import torch

from rookery.learning.precision import choose_precision
from rookery.nets import NetConfig, build_net


def test_measuring_leaves_the_kernels_of_torch_as_they_were() -> None:
    """Where oneDNN cannot do bfloat16, trying it would switch oneDNN off for the whole process."""
    net = build_net(NetConfig(width=8, depth=1), (2, 6, 7), 7)
    before = torch.backends.mkldnn.enabled
    choose_precision("auto", net, planes_shape=(2, 6, 7), rows=64)
    assert torch.backends.mkldnn.enabled == before


def test_a_named_precision_is_taken_as_it_is() -> None:
    net = build_net(NetConfig(width=8, depth=1), (2, 6, 7), 7)
    assert choose_precision("bfloat16", net, planes_shape=(2, 6, 7), rows=64) == "bfloat16"
