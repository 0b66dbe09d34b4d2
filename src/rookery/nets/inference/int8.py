"""The tower of a residual network in 8 bits on a GPU, by cudnn's own front end.

Torch has no 8-bit convolution. The front end (the package nvidia-cudnn-frontend) takes a
convolution and the operations that follow it as one graph, and offers several execution plans for
it; the fastest is kept. To build one plan takes half a second, so all are built for one layer only:
other layers of 8 bits choose between the plans that were fast there, and the stem, a small part of
the time, takes the first plan that works.
"""

import importlib
import time
from collections.abc import Collection, Iterator
from functools import cache
from typing import Any

import torch
from torch import Tensor

from rookery.base import ConfigError
from rookery.nets.inference.fused_heads import pad_channels
from rookery.nets.inference.gpu_backends import FusedBackend
from rookery.nets.inference.quantize import QuantizedConv, channel_ranges, quantize_tower
from rookery.nets.resnet import Outputs, ResNet

WIDTH_MULTIPLE = 16
"""8-bit convolutions need a multiple of 16 channels."""
MEASURED_BOARDS = 512
ENOUGH_BOARDS, RANGE_DECAY = 64, 0.9
"""With fewer boards a range may come out too small, so the previous range counts too, times the
decay."""
WARM_UPS, TRIALS = 3, 10
FAST = 1.1
"""Plans that take up to this many times as long as the fastest one are tried in other layers."""
NOT_SUPPORTED = "this GPU has no 8-bit convolutions; leave out run.inference=int8"


class Int8Evaluator:
    """A network for self-play, with its tower in 8 bits and the heads of a fused backend."""

    def __init__(self, fused: FusedBackend, boards: Tensor) -> None:
        self.device, self.cells = boards.device, fused.cells
        self._fused = fused
        self._tower = Int8Tower(fused.net, boards)

    def load(self) -> None:
        """Take the weights that the fused backend has loaded."""
        self._tower.load(self._fused.net)

    @torch.inference_mode()
    def forward(self, planes: Tensor) -> Outputs:
        """Return logits [B, A or more] and win, draw, loss probabilities [B, 3]."""
        logits, wdl = self._fused.heads(self._tower(planes))
        return logits, wdl.softmax(1)

    @torch.inference_mode()
    def adapt(self, boards: Tensor) -> None:
        """Fit the scales to boards like these."""
        self._tower.measure(self._fused.net, boards)


class Int8Tower:
    """All convolutions of a folded network; weights and scales are replaced in place."""

    def __init__(self, folded: ResNet, boards: Tensor) -> None:
        check_int8(folded.value.conv.in_channels)
        self._ranges = channel_ranges(folded, boards)
        self._layers = [_on_gpu(layer) for layer in quantize_tower(folded, self._ranges)]
        self._convolutions: dict[tuple[Any, ...], Convolution] = {}
        self._fast_plans: dict[torch.Size, set[str]] = {}

    def load(self, folded: ResNet) -> None:
        """Take other weights; the scales fit the ranges measured last."""
        for own, new in zip(self._layers, quantize_tower(folded, self._ranges), strict=True):
            own.weight[:, : new.weight.shape[1]].copy_(new.weight)
            for mine, theirs in zip(own[1:], new[1:], strict=True):
                mine.copy_(theirs)

    def measure(self, folded: ResNet, boards: Tensor) -> None:
        """Fit the scales to boards like these."""
        ranges = channel_ranges(folded, boards[:MEASURED_BOARDS].contiguous())
        if len(boards) < ENOUGH_BOARDS:
            pairs = zip(ranges, self._ranges, strict=True)
            ranges = [now.maximum(RANGE_DECAY * before) for now, before in pairs]
        self._ranges = ranges
        self.load(folded)

    def __call__(self, planes: Tensor) -> Tensor:
        """Return activations [B, C, H, W] in float16, channels last."""
        x = self._conv(0, pad_channels(planes, torch.float16))
        for first in range(1, len(self._layers), 2):
            x = self._conv(first + 1, self._conv(first, x), skip=x)
        return x

    def _conv(self, index: int, x: Tensor, skip: Tensor | None = None) -> Tensor:
        layer, is_last = self._layers[index], index == len(self._layers) - 1
        dtype = torch.float16 if is_last else torch.int8
        key = (x.shape, x.dtype, dtype, skip is None)
        if key not in self._convolutions:
            self._convolutions[key] = self._build(x, layer, skip, dtype)
        return self._convolutions[key](x, layer, skip)

    def _build(
        self, x: Tensor, layer: QuantizedConv, skip: Tensor | None, dtype: torch.dtype
    ) -> "Convolution":
        is_stem, names = x.dtype != torch.int8, self._fast_plans.get(x.shape, set())
        convolution = Convolution(x, layer, skip, dtype)
        fast = convolution.choose_plan(x, layer, skip, names, is_first_kept=is_stem)
        if not is_stem:
            self._fast_plans[x.shape] = fast
        return convolution


class Convolution:
    """A layer for inputs of one shape, by one of cudnn's execution plans."""

    def __init__(self, x: Tensor, layer: QuantizedConv, skip: Tensor | None, dtype: torch.dtype):
        self._shape = (len(x), len(layer.scale), *x.shape[2:])
        self._dtype = dtype
        self._graph, self._slots = self._describe(x, layer, skip)

    def __call__(self, x: Tensor, layer: QuantizedConv, skip: Tensor | None) -> Tensor:
        y = torch.empty(
            self._shape, dtype=self._dtype, device=x.device, memory_format=torch.channels_last
        )
        self._execute(self._plan, self._workspace, (x, *layer, skip, y))
        return y

    def _describe(
        self, x: Tensor, layer: QuantizedConv, skip: Tensor | None
    ) -> tuple[Any, list[Any]]:
        """Return the layer as cudnn's graph, and its inputs and output: x, layer, skip, y."""
        cudnn, handle = _front_end(), _handle(x.device)
        float32, dtypes = cudnn.data_type.FLOAT, _dtypes()
        graph = cudnn.pygraph(
            handle=handle, intermediate_data_type=float32, compute_data_type=float32
        )

        def declare(name: str, tensor: Tensor) -> Any:
            is_vector = tensor.dim() == 1
            shape = (1, len(tensor), 1, 1) if is_vector else tensor.shape
            strides = _channels_last(shape) if is_vector else list(tensor.stride())
            form = {"dim": list(shape), "stride": strides, "data_type": dtypes[tensor.dtype]}
            return graph.tensor(name=name, **form)

        image = declare("x", x)
        weight, scale, bias, skip_scale = map(declare, QuantizedConv._fields, layer)
        sums = cudnn.data_type.INT32 if x.dtype == torch.int8 else float32
        padding = [size // 2 for size in layer.weight.shape[2:]]
        form = {"padding": padding, "stride": [1, 1], "dilation": [1, 1]}
        y = graph.conv_fprop(image=image, weight=weight, **form, compute_data_type=sums)
        y.set_data_type(sums)
        y = graph.add(a=graph.mul(a=y, b=scale), b=bias)
        added = None if skip is None else declare("skip", skip)
        if added is not None:
            y = graph.add(a=y, b=graph.mul(a=added, b=skip_scale))
        y = graph.relu(input=y)
        y.set_output(True).set_data_type(dtypes[self._dtype])
        y.set_stride(_channels_last(self._shape))
        used_scale = None if added is None else skip_scale
        return graph, [image, weight, scale, bias, used_scale, added, y]

    def choose_plan(
        self,
        x: Tensor,
        layer: QuantizedConv,
        skip: Tensor | None,
        names: Collection[str],
        *,
        is_first_kept: bool,
    ) -> set[str]:
        """Choose the fastest of the plans called `names`, or of the others if none of those works.

        Or the first one that works. Return the names of those that are about as fast.
        """
        y = torch.empty(self._shape, dtype=self._dtype, device=x.device)
        tensors, seconds = (x, *layer, skip, y), dict[int, float]()
        self._create_plans()
        for plan in self._working_plans(names):
            size = max(1, self._graph.get_workspace_size_plan_at_index(plan))
            workspace = torch.empty(size, dtype=torch.uint8, device=x.device)
            seconds[plan] = self._time(plan, workspace, tensors)
            if seconds[plan] == min(seconds.values()):
                self._plan, self._workspace = plan, workspace
            if is_first_kept:
                break
        if not seconds:
            raise ConfigError(NOT_SUPPORTED)
        limit = FAST * min(seconds.values())
        return {self._name(plan) for plan, taken in seconds.items() if taken <= limit}

    def _create_plans(self) -> None:
        cudnn, graph = _front_end(), self._graph
        try:
            graph.validate()
            graph.build_operation_graph()
            graph.create_execution_plans([cudnn.heur_mode.A])
            graph.check_support()
        except _refusals():
            raise ConfigError(NOT_SUPPORTED) from None

    def _working_plans(self, names: Collection[str]) -> Iterator[int]:
        """Build and yield the plans that this GPU supports: those called `names`, or the others."""
        plans = range(self._graph.get_execution_plan_count())
        named = [plan for plan in plans if self._name(plan) in names]
        for group in (named, [plan for plan in plans if plan not in named]):
            has_worked = False
            for plan in filter(self._is_built, group):
                has_worked = True
                yield plan
            if has_worked:
                return

    def _is_built(self, plan: int) -> bool:
        try:
            self._graph.build_plan_at_index(plan)
        except _refusals():
            return False
        return True

    def _name(self, plan: int) -> str:
        return str(self._graph.get_plan_name_at_index(plan))

    def _time(self, plan: int, workspace: Tensor, tensors: tuple[Tensor | None, ...]) -> float:
        for _ in range(WARM_UPS):
            self._execute(plan, workspace, tensors)
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(TRIALS):
            self._execute(plan, workspace, tensors)
        torch.cuda.synchronize()
        return time.perf_counter() - start

    def _execute(self, plan: int, workspace: Tensor, tensors: tuple[Tensor | None, ...]) -> None:
        handle, stream = _handle(workspace.device), torch.cuda.current_stream(workspace.device)
        _front_end().set_stream(handle=handle, stream=stream.cuda_stream)
        inputs = {
            slot: tensor
            for slot, tensor in zip(self._slots, tensors, strict=True)
            if slot is not None
        }
        self._graph.execute_plan_at_index(inputs, workspace, plan, handle=handle)


def check_int8(width: int) -> None:
    """Refuse a tower of this width, or any tower if the front end is not installed."""
    if width % WIDTH_MULTIPLE:
        raise ConfigError(
            f"int8 needs a net.width that is a multiple of {WIDTH_MULTIPLE}, got {width}; "
            "change it or leave out run.inference"
        )
    _front_end()


def _on_gpu(layer: QuantizedConv) -> QuantizedConv:
    """Return the tensors in the memory layout that cudnn expects, for updates in place."""
    is_stem = layer.weight.dtype != torch.int8
    weight = pad_channels(layer.weight, torch.float16 if is_stem else torch.int8)
    return QuantizedConv(weight, *(part.clone() for part in layer[1:]))


def _channels_last(shape: Any) -> list[int]:
    """Return the strides of [B, C, H, W] with channels last."""
    _, channels, height, width = shape
    return [channels * height * width, 1, width * channels, channels]


@cache
def _front_end() -> Any:
    try:
        return importlib.import_module("cudnn")
    except ImportError:
        raise ConfigError("int8 needs cudnn's front end: pip install 'rookery[int8]'") from None


@cache
def _refusals() -> tuple[type[Exception], ...]:
    return _front_end().cudnnGraphNotSupportedError, RuntimeError


@cache
def _dtypes() -> dict[torch.dtype, Any]:
    types = _front_end().data_type
    return {torch.int8: types.INT8, torch.float16: types.HALF, torch.float32: types.FLOAT}


@cache
def _handle(device: torch.device) -> Any:
    with torch.cuda.device(device):
        return _front_end().create_handle()
