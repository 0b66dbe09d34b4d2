"""The int8 tower, with cudnn's front end replaced by plain arithmetic on the CPU."""

import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from rookery.base import ConfigError
from rookery.nets import NetConfig, build_net
from rookery.nets.inference import int8
from rookery.nets.inference.int8 import RANGE_DECAY, Int8Tower
from rookery.nets.inference.quantize import channel_ranges, quantize_tower
from rookery.nets.resnet import ResNet, fold
from rounded import run_layers

SHAPE = (3, 5, 4)
PLANS = 4
Given = dict[Any, Tensor]


class NotSupported(Exception):
    """The front end's own error, which is not a RuntimeError."""


class Node:
    """A tensor of cudnn's graph, computed from the tensors given at execution."""

    def __init__(self, value: Callable[[Given], Tensor]) -> None:
        self.value = value

    def set_data_type(self, kind: Any) -> "Node":
        return self

    def set_output(self, is_output: bool) -> "Node":
        return self

    def set_stride(self, strides: list[int]) -> "Node":
        return self


class PlainGraph:
    """A stand-in for cudnn's graph; every plan computes the same, and `ran` lists those used.

    `built` lists the plans that were built, by graph.
    """

    refused: tuple[int, ...] = ()
    fails_at = ""
    ran: list[int] = []  # noqa: RUF012
    built: list[list[int]] = []  # noqa: RUF012

    def __init__(self, **options: Any) -> None:
        self.built.append([])

    def tensor(self, *, dim: list[int], **form: Any) -> Node:
        node = Node(lambda given: given[node].double().reshape(dim))
        return node

    def conv_fprop(self, *, image: Node, weight: Node, padding: list[int], **more: Any) -> Node:
        def convolve(given: Given) -> Tensor:
            return functional.conv2d(image.value(given), weight.value(given), padding=padding)

        return Node(convolve)

    def mul(self, *, a: Node, b: Node) -> Node:
        return Node(lambda given: a.value(given) * b.value(given))

    def add(self, *, a: Node, b: Node) -> Node:
        return Node(lambda given: a.value(given) + b.value(given))

    def relu(self, *, input: Node) -> Node:
        self.last = Node(lambda given: functional.relu(input.value(given)))
        return self.last

    def validate(self) -> None:
        pass

    def build_operation_graph(self) -> None:
        pass

    def create_execution_plans(self, modes: list[Any]) -> None:
        if self.fails_at == "plans":
            raise NotSupported

    def check_support(self) -> None:
        if self.fails_at == "support":
            raise NotSupported

    def get_execution_plan_count(self) -> int:
        return PLANS

    def build_plan_at_index(self, plan: int) -> None:
        if plan in self.refused:
            raise NotSupported if plan % 2 else RuntimeError
        self.built[-1].append(plan)

    def get_plan_name_at_index(self, plan: int) -> str:
        return f"engine {plan}"

    def get_workspace_size_plan_at_index(self, plan: int) -> int:
        return plan

    def execute_plan_at_index(self, given: Given, space: Tensor, plan: int, handle: Any) -> None:
        assert plan not in self.refused and len(space) == max(1, plan)
        self.ran.append(plan)
        y, target = self.last.value(given), given[self.last]
        target.copy_(y.round().clamp(-128, 127) if target.dtype == torch.int8 else y)


@pytest.fixture(autouse=True)
def plain_arithmetic(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    kinds = SimpleNamespace(INT8=0, HALF=1, FLOAT=2, INT32=3)
    front_end = SimpleNamespace(
        pygraph=PlainGraph,
        data_type=kinds,
        heur_mode=SimpleNamespace(A=0),
        cudnnGraphNotSupportedError=NotSupported,
        set_stream=lambda **options: None,
    )
    for cached in (int8._front_end, int8._dtypes):
        cached.cache_clear()
    monkeypatch.setitem(sys.modules, "cudnn", front_end)
    monkeypatch.setattr(int8, "_handle", lambda device: None)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    stream = SimpleNamespace(cuda_stream=0)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: stream)
    monkeypatch.setattr(PlainGraph, "ran", [])
    monkeypatch.setattr(PlainGraph, "built", [])
    with torch.inference_mode():
        yield
    for cached in (int8._front_end, int8._dtypes):
        cached.cache_clear()


def new_net(seed: int) -> ResNet:
    folded = fold(build_net(NetConfig(width=16, depth=2), SHAPE, 7, seed=seed))
    assert isinstance(folded, ResNet)
    return folded


def boards(seed: int, count: int = 80) -> Tensor:
    return torch.rand((count, *SHAPE), generator=torch.Generator().manual_seed(seed))


def expected(folded: ResNet, measured: Tensor, asked: Tensor) -> Tensor:
    return run_layers(quantize_tower(folded, channel_ranges(folded, measured)), asked)


def check(tower: Int8Tower, folded: ResNet, measured: Tensor) -> None:
    asked = boards(9)
    torch.testing.assert_close(
        tower(asked).double(), expected(folded, measured, asked), rtol=1e-3, atol=1e-3
    )


def test_the_tower_equals_the_quantized_layers() -> None:
    folded, seen = new_net(1), boards(1)
    check(Int8Tower(folded, seen), folded, seen)


def test_measuring_takes_new_weights_and_ranges() -> None:
    tower, other, seen = Int8Tower(new_net(1), boards(1)), new_net(2), boards(2) / 3
    tower.measure(other, seen)
    check(tower, other, seen)


def test_loading_keeps_the_ranges() -> None:
    folded, other, seen = new_net(1), new_net(2), boards(1)
    tower = Int8Tower(folded, seen)
    tower.load(other)
    found, layers = tower(boards(9)).double(), quantize_tower(other, channel_ranges(folded, seen))
    torch.testing.assert_close(found, run_layers(layers, boards(9)), rtol=1e-3, atol=1e-3)


def test_few_boards_decay_the_previous_ranges() -> None:
    folded, many, few = new_net(1), boards(1), boards(2)[:3] / 5
    tower = Int8Tower(folded, many)
    tower.measure(folded, few)
    pairs = zip(channel_ranges(folded, few), channel_ranges(folded, many), strict=True)
    layers = quantize_tower(folded, [now.maximum(RANGE_DECAY * before) for now, before in pairs])
    found = tower(boards(9)).double()
    torch.testing.assert_close(found, run_layers(layers, boards(9)), rtol=1e-3, atol=1e-3)


def test_plans_that_cannot_be_built_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlainGraph, "refused", (0, 1, 3))
    folded, seen = new_net(1), boards(1)
    check(Int8Tower(folded, seen), folded, seen)
    assert set(PlainGraph.ran) == {2}


def set_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let plan 2 be the fastest and plan 3 about as fast."""
    seconds = (5.0, 3.0, 1.0, 1.05)
    monkeypatch.setattr(int8.Convolution, "_time", lambda self, plan, *rest: seconds[plan])


def test_all_plans_are_built_for_one_layer_and_fast_ones_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_times(monkeypatch)
    Int8Tower(new_net(1), boards(1))(boards(9))
    assert PlainGraph.built == [[0], [0, 1, 2, 3], [2, 3], [2, 3]]
    assert PlainGraph.ran == [0, 2, 2, 2, 2]


def test_other_plans_are_tried_where_fast_ones_do_not_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_times(monkeypatch)
    tower = Int8Tower(new_net(1), boards(1))
    build = PlainGraph.build_plan_at_index

    def refuse_fast_ones_later(graph: PlainGraph, plan: int) -> None:
        if len(graph.built) > 2 and plan >= 2:
            raise NotSupported
        build(graph, plan)

    monkeypatch.setattr(PlainGraph, "build_plan_at_index", refuse_fast_ones_later)
    tower(boards(9))
    assert PlainGraph.built == [[0], [0, 1, 2, 3], [0, 1], [1]]
    assert PlainGraph.ran == [0, 2, 1, 2, 1]


@pytest.mark.parametrize(
    ("fails_at", "refused"), [("plans", ()), ("support", ()), ("", range(PLANS))]
)
def test_a_gpu_without_8_bit_kernels_is_reported_in_one_line(
    fails_at: str, refused: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PlainGraph, "fails_at", fails_at)
    monkeypatch.setattr(PlainGraph, "refused", tuple(refused))
    tower = Int8Tower(new_net(1), boards(1))
    with pytest.raises(ConfigError, match="this GPU has no 8-bit convolutions"):
        tower(boards(9))
