"""The tower of a residual net in eight bits on a GPU, by cudnn's own front end.

Torch has no convolution in eight bits. The front end (the package nvidia-cudnn-frontend) takes one
as a graph, with all that follows it, and offers several kernels for it; the fastest is kept.
"""

import importlib
import math
import time
from collections.abc import Iterator
from functools import cache
from operator import itemgetter
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from rookery.base import ConfigError
from rookery.nets.inference.quantize import Layer, ranges, round_tower
from rookery.nets.resnet import ResNet

ALIGNED = 8
"""Tensor cores want channels in eights; more are added, with weights of zero."""
BUNDLE = 16
"""Channels of eight bits come in such bundles."""
MEASURED_BOARDS = 512
ENOUGH_BOARDS, FADING = 64, 0.9
"""Fewer may miss what a channel can reach, so that what was measured before counts too, and fades
from one measurement to the next."""
WARM_UPS, TRIALS = 3, 10
NOT_HERE = "this GPU has no eight-bit convolutions; leave out run.inference=int8"


class Int8Evaluator:
    """The net of an evaluator with its tower in eight bits, as games of self-play ask it.

    The plan runs the same net in sixteen, and has the heads for both.
    """

    def __init__(self, plan: Any, boards: Tensor) -> None:
        self.device, self.cells = boards.device, plan.cells
        self._plan = plan
        self._tower = Int8Tower(plan.net, boards)

    def load(self) -> None:
        """Take the weights that the plan has taken."""
        self._tower.load(self._plan.net)

    @torch.inference_mode()
    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """As the evaluator's own."""
        logits, wdl = self._plan.answer(self._tower(planes))
        return logits, wdl.softmax(1)

    @torch.inference_mode()
    def adapt(self, boards: Tensor) -> None:
        """Fit the scales to boards like these."""
        self._tower.measure(self._plan.net, boards)


class Int8Tower:
    """All convolutions of a folded net; weights and scales are replaced in place."""

    def __init__(self, folded: ResNet, boards: Tensor) -> None:
        check_int8(folded.value.conv.in_channels)
        self._reached = ranges(folded, boards)
        self._layers = [_ready(layer) for layer in round_tower(folded, self._reached)]
        self._tuned: dict[tuple[Any, ...], Convolution] = {}

    def load(self, folded: ResNet) -> None:
        """Take other weights; scales are for the ranges that were measured last."""
        for own, new in zip(self._layers, round_tower(folded, self._reached), strict=True):
            own.weight[:, : new.weight.shape[1]].copy_(new.weight)
            for mine, theirs in zip(own[1:], new[1:], strict=True):
                mine.copy_(theirs)

    def measure(self, folded: ResNet, boards: Tensor) -> None:
        """Fit the scales to boards like these."""
        found = ranges(folded, boards[:MEASURED_BOARDS].contiguous())
        if len(boards) < ENOUGH_BOARDS:
            pairs = zip(found, self._reached, strict=True)
            found = [now.maximum(FADING * before) for now, before in pairs]
        self._reached = found
        self.load(folded)

    def __call__(self, planes: Tensor) -> Tensor:
        """Activations [B, C, H, W] in float16, channels last."""
        x = self._convolve(0, aligned(planes, torch.float16))
        for first in range(1, len(self._layers), 2):
            x = self._convolve(first + 1, self._convolve(first, x), short_cut=x)
        return x

    def _convolve(self, index: int, x: Tensor, short_cut: Tensor | None = None) -> Tensor:
        layer, is_last = self._layers[index], index == len(self._layers) - 1
        dtype = torch.float16 if is_last else torch.int8
        key = (x.shape, x.dtype, dtype, short_cut is None)
        if key not in self._tuned:
            self._tuned[key] = Convolution(x, layer, short_cut, dtype)
        return self._tuned[key](x, layer, short_cut)


class Convolution:
    """A layer for boards of one shape, by the fastest kernel there is for it."""

    def __init__(self, x: Tensor, layer: Layer, short_cut: Tensor | None, dtype: torch.dtype):
        self._shape = (len(x), len(layer.scale), *x.shape[2:])
        self._dtype = dtype
        self._graph, self._slots = self._describe(x, layer, short_cut)
        self._plan, self._space = self._fastest(x, layer, short_cut)

    def __call__(self, x: Tensor, layer: Layer, short_cut: Tensor | None) -> Tensor:
        y = torch.empty(
            self._shape, dtype=self._dtype, device=x.device, memory_format=torch.channels_last
        )
        self._execute(self._plan, self._space, (x, *layer, short_cut, y))
        return y

    def _describe(self, x: Tensor, layer: Layer, short_cut: Tensor | None) -> tuple[Any, list[Any]]:
        """The layer as cudnn's graph, and the graph's places for x, layer, short cut and y."""
        cudnn, handle = _front_end(), _handle(x.device)
        single, kinds = cudnn.data_type.FLOAT, _kinds()
        graph = cudnn.pygraph(
            handle=handle, intermediate_data_type=single, compute_data_type=single
        )

        def place(name: str, tensor: Tensor) -> Any:
            is_vector = tensor.dim() == 1
            shape = (1, len(tensor), 1, 1) if is_vector else tensor.shape
            strides = _channels_last(shape) if is_vector else list(tensor.stride())
            form = {"dim": list(shape), "stride": strides}
            return graph.tensor(name=name, **form, data_type=kinds[tensor.dtype])

        image = place("x", x)
        weight, scale, bias, ratio = map(place, Layer._fields, layer)
        sums = cudnn.data_type.INT32 if x.dtype == torch.int8 else single
        padding = [size // 2 for size in layer.weight.shape[2:]]
        steps = {"padding": padding, "stride": [1, 1], "dilation": [1, 1]}
        y = graph.conv_fprop(image=image, weight=weight, **steps, compute_data_type=sums)
        y.set_data_type(sums)
        y = graph.add(a=graph.mul(a=y, b=scale), b=bias)
        cut = None if short_cut is None else place("short cut", short_cut)
        if cut is not None:
            y = graph.add(a=y, b=graph.mul(a=cut, b=ratio))
        y = graph.relu(input=y)
        y.set_output(True).set_data_type(kinds[self._dtype])
        y.set_stride(_channels_last(self._shape))
        return graph, [image, weight, scale, bias, None if cut is None else ratio, cut, y]

    def _fastest(self, x: Tensor, layer: Layer, short_cut: Tensor | None) -> tuple[int, Tensor]:
        """The number of the best plan, and the memory it works in."""
        y = torch.empty(self._shape, dtype=self._dtype, device=x.device)
        tensors, best = (x, *layer, short_cut, y), (math.inf, 0, y)
        for plan in self._plans():
            size = max(1, self._graph.get_workspace_size_plan_at_index(plan))
            space = torch.empty(size, dtype=torch.uint8, device=x.device)
            best = min(best, (self._time(plan, space, tensors), plan, space), key=itemgetter(0))
        if best[0] == math.inf:
            raise ConfigError(NOT_HERE)
        return best[1:]

    def _plans(self) -> Iterator[int]:
        """The plans that this GPU can build, built."""
        cudnn, graph = _front_end(), self._graph
        refusals = (cudnn.cudnnGraphNotSupportedError, RuntimeError)
        try:
            graph.validate()
            graph.build_operation_graph()
            graph.create_execution_plans([cudnn.heur_mode.A])
            graph.check_support()
        except refusals:
            raise ConfigError(NOT_HERE) from None
        for plan in range(graph.get_execution_plan_count()):
            try:
                graph.build_plan_at_index(plan)
            except refusals:
                continue
            yield plan

    def _time(self, plan: int, space: Tensor, tensors: tuple[Tensor | None, ...]) -> float:
        for _ in range(WARM_UPS):
            self._execute(plan, space, tensors)
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(TRIALS):
            self._execute(plan, space, tensors)
        torch.cuda.synchronize()
        return time.perf_counter() - start

    def _execute(self, plan: int, space: Tensor, tensors: tuple[Tensor | None, ...]) -> None:
        handle, stream = _handle(space.device), torch.cuda.current_stream(space.device)
        _front_end().set_stream(handle=handle, stream=stream.cuda_stream)
        given = {
            slot: tensor
            for slot, tensor in zip(self._slots, tensors, strict=True)
            if slot is not None
        }
        self._graph.execute_plan_at_index(given, space, plan, handle=handle)


def check_int8(width: int) -> None:
    """Refuse a tower of this width, or any where the front end is missing."""
    if width % BUNDLE:
        raise ConfigError(
            f"int8 needs a net.width in steps of {BUNDLE}, got {width}; or leave out run.inference"
        )
    _front_end()


def aligned(x: Tensor, dtype: torch.dtype) -> Tensor:
    """`x` [N, C, H, W] with channels added up to a multiple of eight, channels last."""
    y, extra = x.to(dtype), -x.shape[1] % ALIGNED
    if extra:
        y = functional.pad(y, (0, 0, 0, 0, 0, extra))
    return y.contiguous(memory_format=torch.channels_last)


def _ready(layer: Layer) -> Layer:
    """Tensors as a GPU wants them, to be overwritten from now on."""
    is_stem = layer.weight.dtype != torch.int8
    weight = aligned(layer.weight, torch.float16 if is_stem else torch.int8)
    return Layer(weight, *(part.clone() for part in layer[1:]))


def _channels_last(shape: Any) -> list[int]:
    """Strides of [N, C, H, W]."""
    _, channels, height, width = shape
    return [channels * height * width, 1, width * channels, channels]


@cache
def _front_end() -> Any:
    try:
        return importlib.import_module("cudnn")
    except ImportError:
        raise ConfigError("int8 needs cudnn's front end: pip install 'rookery[int8]'") from None


@cache
def _kinds() -> dict[torch.dtype, Any]:
    kinds = _front_end().data_type
    return {torch.int8: kinds.INT8, torch.float16: kinds.HALF, torch.float32: kinds.FLOAT}


@cache
def _handle(device: torch.device) -> Any:
    with torch.cuda.device(device):
        return _front_end().create_handle()
