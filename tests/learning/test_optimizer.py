"""Optimizers: steps are those of torch; Muon's are orthogonal."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from rookery.learning.optimizer import NetOptimizer, orthogonal

DECAY, RATE = 0.1, 0.02


class SmallNet(nn.Module):
    """Convolutions of two shapes, one of them twice, and weights that Muon leaves to AdamW."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(2, 24, 3)
        self.blocks = nn.ModuleList([nn.Conv2d(24, 24, 3) for _ in range(2)])
        self.point = nn.Conv2d(24, 4, 1)
        self.last = nn.Linear(24, 3)


@pytest.fixture(params=[torch.contiguous_format, torch.channels_last])
def net(request: pytest.FixtureRequest) -> nn.Module:
    torch.manual_seed(3)
    net = SmallNet()
    for weight in net.parameters():
        if weight.ndim == 4:
            weight.data = weight.data.contiguous(memory_format=request.param)
    return net


def random_gradients(net: nn.Module, seed: int) -> Iterator[Tensor]:
    stream = torch.Generator().manual_seed(seed)
    for weight in net.parameters():
        yield torch.randn(weight.shape, generator=stream)


def test_adamw_steps_as_torchs_own_bit_for_bit(net: nn.Module) -> None:
    same = SmallNet()
    same.load_state_dict(net.state_dict())
    for ours, weight in zip(net.parameters(), same.parameters(), strict=True):
        weight.data = ours.detach().clone()  # with the same memory format
    theirs = torch.optim.AdamW(
        [
            {"params": [w for w in same.parameters() if w.ndim >= 2], "weight_decay": DECAY},
            {"params": [w for w in same.parameters() if w.ndim < 2], "weight_decay": 0.0},
        ],
        fused=True,
    )
    optimizer = NetOptimizer(net, name="adamw", learning_rate=RATE, weight_decay=DECAY)
    for update in range(5):
        rate = RATE / (1 + update)
        optimizer.set_rate(rate if update % 2 else torch.tensor(rate, dtype=torch.float64))
        for group in theirs.param_groups:
            group["lr"] = rate
        for each in (net, same):
            for weight, gradient in zip(
                each.parameters(), random_gradients(each, update), strict=True
            ):
                weight.grad = gradient
        if update > 2:
            net.get_parameter("stem.bias").grad = same.get_parameter("stem.bias").grad = None
        optimizer.step()
        theirs.step()
    kept = optimizer.tensors()
    for name, weight in same.named_parameters():
        assert torch.equal(net.get_parameter(name), weight), name
        for key, tensor in theirs.state[weight].items():
            assert torch.equal(kept.pop(f"optimizer.{name}.{key}"), tensor), name
    assert not kept


def test_an_optimizer_continues_bit_for_bit(net: nn.Module) -> None:
    other = SmallNet()
    for name in ("adamw", "muon"):
        first = NetOptimizer(net, name=name, learning_rate=RATE, weight_decay=DECAY)
        for update in range(4):
            if update == 2:
                for ours, weight in zip(other.parameters(), net.parameters(), strict=True):
                    ours.data = weight.detach().clone()
                second = NetOptimizer(other, name=name, learning_rate=RATE, weight_decay=DECAY)
                second.fill({key: each.numpy().copy() for key, each in first.tensors().items()})
            for each in (net, other):
                gradients = random_gradients(each, update)
                for weight, gradient in zip(each.parameters(), gradients, strict=True):
                    weight.grad = gradient
            first.step()
            if update >= 2:
                second.step()
        assert all(map(torch.equal, net.parameters(), other.parameters()))


def test_an_optimizer_imports_no_compiler() -> None:
    code = """
import sys
import torch
from rookery.learning.optimizer import NetOptimizer

net = torch.nn.Conv2d(1, 4, 3)
net(torch.zeros(1, 1, 3, 3)).sum().backward()
optimizer = NetOptimizer(net, name="muon", learning_rate=0.1, weight_decay=0.1)
optimizer.step()
assert "torch._dynamo" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_muon_steps_as_torchs_own_on_matrices(net: nn.Module) -> None:
    matrices = {
        name: nn.Parameter(weight.detach().flatten(1).clone())
        for name, weight in net.named_parameters()
        if weight.ndim == 4 and weight.shape[2] == 3
    }
    assert len(matrices) == 3
    theirs = torch.optim.Muon(
        matrices.values(), lr=RATE, weight_decay=DECAY, adjust_lr_fn="match_rms_adamw"
    )
    ours = NetOptimizer(net, name="muon", learning_rate=RATE, weight_decay=DECAY)
    for update in range(4):
        for (name, weight), gradient in zip(
            net.named_parameters(), random_gradients(net, update), strict=True
        ):
            weight.grad = gradient
            if name in matrices:
                matrices[name].grad = gradient.flatten(1)
        ours.step()
        theirs.step()  # type: ignore[no-untyped-call]
    for name, expected in matrices.items():
        found = net.get_parameter(name).flatten(1)
        step = 4 * RATE * 0.2  # root mean square of what was changed; torch computes in bfloat16
        assert (found - expected).square().mean().sqrt() < 0.02 * step, name


def test_muon_leaves_the_rest_to_adamw(net: nn.Module) -> None:
    adamw = SmallNet()
    adamw.load_state_dict(net.state_dict())
    for one, name in ((net, "muon"), (adamw, "adamw")):
        optimizer = NetOptimizer(one, name=name, learning_rate=RATE, weight_decay=DECAY)
        for weight, gradient in zip(one.parameters(), random_gradients(one, 1), strict=True):
            weight.grad = gradient
        optimizer.step()
    same = {
        name: torch.equal(weight, adamw.get_parameter(name))
        for name, weight in net.named_parameters()
    }
    assert {name for name, is_same in same.items() if not is_same} == {
        "stem.weight",
        "blocks.0.weight",
        "blocks.1.weight",
    }


def test_a_frozen_convolution_stays_as_it_is(net: nn.Module) -> None:
    optimizer = NetOptimizer(net, name="muon", learning_rate=RATE, weight_decay=DECAY)
    for weight, gradient in zip(net.parameters(), random_gradients(net, 1), strict=True):
        weight.grad = gradient
    frozen = net.get_parameter("blocks.0.weight")
    frozen.grad, before = None, frozen.detach().clone()
    optimizer.step()
    assert torch.equal(frozen, before)
    assert not any(name.startswith("optimizer.blocks.0.weight") for name in optimizer.tensors())


@pytest.mark.parametrize("shape", [(3, 16, 144), (2, 24, 18), (1, 1, 9), (1, 5, 1)])
def test_singular_values_become_nearly_one(shape: tuple[int, int, int]) -> None:
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    values = torch.linalg.svdvals(orthogonal(matrices))
    assert values.min() > 0.6 and values.max() < 1.3


def test_no_gradient_makes_no_step() -> None:
    assert not orthogonal(torch.zeros(2, 4, 9)).any()
