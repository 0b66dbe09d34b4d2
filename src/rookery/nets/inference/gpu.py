"""The fast forward on a GPU: planes in the device's memory in, logits and probabilities out.

The tower runs in half the bits, channels last, batch norm folded, by cudnn's fused calls
(convolution, bias, short cut and relu in one), about twice as fast as torch's modules. The
heads' last layers run in float32, as on the CPU. New weights are copied into the tensors in
use, so that a captured graph goes on with them.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from rookery.base import ConfigError, RookeryError, UnknownName
from rookery.nets.build import NetConfig, PlanesShape
from rookery.nets.ensemble import Ensemble, average
from rookery.nets.inference.cpu_backends import (
    TOLERANCE,
    BackendChoice,
    disagreement,
    in_precision,
    random_boards,
)
from rookery.nets.inference.int8 import ALIGNED, Int8Evaluator, aligned, check_int8
from rookery.nets.resnet import PolicyHead, ResNet, fold, tower_convs, without_zero_layers

GPU_BACKENDS = {
    "fused-float16": torch.float16,
    "fused-bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "int8": torch.float16,
}
"""Tried in this order: the first that works and agrees with float32 is taken. Fused calls are for
residual nets; others, alone or in an ensemble, run their own modules in the same bits. Eight bits
agree less well and must be asked for: games of self-play are played by them, all else is answered
by fused calls in float16."""
ONLY_RESIDUAL = "int8 is for a residual net; leave out run.inference"
TRIAL_ROWS = 64
PROBE_ROWS = 8
SMALLEST_BATCH = 32


def check_backend(method: str, config: NetConfig) -> None:
    """Refuse a method that a net like this, or this installation, cannot be evaluated by."""
    if method == "int8":
        if config.kind != "resnet":
            raise ConfigError(ONLY_RESIDUAL)
        check_int8(config.width)


class GpuEvaluator:
    """A net on a GPU, ready to be asked; its weights can be replaced in place."""

    @torch.inference_mode()
    def __init__(
        self,
        net: nn.Module,
        planes_shape: PlanesShape,
        *,
        device: torch.device,
        method: str = "auto",
    ) -> None:
        if method not in ("auto", *GPU_BACKENDS):
            raise UnknownName("inference method", method, ("auto", *GPU_BACKENDS))
        torch.backends.cudnn.benchmark = True
        self.planes_shape = planes_shape
        self.device = device
        folded = fold(net).to(device)
        self.choice = _choose(folded, planes_shape) if method == "auto" else BackendChoice(method)
        self._plan = _plan(self.method, folded)
        self.cells: Tensor | None = self._plan.cells
        """Where in a row of `forward`'s logits each action's lies; None: in their order."""
        self._probe = torch.from_numpy(random_boards(PROBE_ROWS, planes_shape)).to(device)
        self.selfplay_evaluator = self._in_eight_bits() if self.method == "int8" else self
        """What games of self-play ask."""
        self._is_finite = torch.ones(1, dtype=torch.bool, device=device)
        self._captured: dict[int, _Captured] = {}

    def _in_eight_bits(self) -> Int8Evaluator:
        boards = torch.from_numpy(random_boards(TRIAL_ROWS, self.planes_shape))
        return Int8Evaluator(self._plan, boards.to(self.device))

    @property
    def method(self) -> str:
        """The method in use."""
        return self.choice.method

    @torch.inference_mode()
    def load(self, net: nn.Module) -> None:
        """Take the weights of `net`, a net of the same shape; `check` tells if they overflow."""
        self._plan.load(fold(net))
        if isinstance(self.selfplay_evaluator, Int8Evaluator):
            self.selfplay_evaluator.load()
        answers = _ask(self._plan, self._probe)
        self._is_finite = torch.stack([part.isfinite().all() for part in answers])

    def check(self) -> None:
        """Refuse weights whose outputs are not finite; waits for the last `load`."""
        if not self._is_finite.all():
            raise RookeryError(
                f"the net's outputs are not finite under {self.method}; "
                "go back to older weights and learn more slowly"
            )

    @torch.inference_mode()
    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, A or more] and win, draw, loss probabilities [B, 3] of [B, P, H, W]."""
        logits, wdl = self._plan(planes)
        return logits, wdl.softmax(1)

    def adapt(self, boards: Tensor) -> None:
        """Sixteen bits and more hold on all boards."""

    def __call__(
        self, planes: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The same for arrays of the host; sizes are rounded up, so that few are captured."""
        count = len(planes)
        size = _rounded(count)
        if size not in self._captured:
            self._captured[size] = _Captured(self, size)
        logits, wdl = self._captured[size](torch.from_numpy(planes))
        return logits[:count].cpu().numpy(), wdl[:count].cpu().numpy()


class _Captured:
    """The forward of one batch size as a graph, which sees new weights as they are loaded."""

    def __init__(self, evaluator: GpuEvaluator, rows: int) -> None:
        self._evaluator = evaluator
        self._planes = torch.zeros((rows, *evaluator.planes_shape), device=evaluator.device)
        self._replay = self._run
        self._run()  # cudnn tunes itself for this size
        if evaluator.device.type == "cuda":
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self._run()
            self._replay = graph.replay

    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Answers for `planes`; those of rows that they do not fill mean nothing."""
        self._planes[: len(planes)].copy_(planes)
        self._replay()
        return self._answers

    def _run(self) -> None:
        logits, wdl = self._evaluator.forward(self._planes)
        self._answers = _picked(logits, self._evaluator.cells), wdl


class _Plain:
    """The folded net's own modules."""

    cells = None

    def __init__(self, folded: nn.Module, dtype: torch.dtype) -> None:
        self._net, self._dtype = in_precision(folded, dtype), dtype

    def load(self, folded: nn.Module) -> None:
        self._net.load_state_dict(folded.state_dict())

    def __call__(self, planes: Tensor) -> Any:
        return self._net(planes.to(self._dtype, memory_format=torch.channels_last))


class _Fused:
    """The same net by cudnn's fused calls."""

    def __init__(self, folded: ResNet, dtype: torch.dtype) -> None:
        self._dtype = dtype
        self.net = folded
        self._convs = [aligned(conv.weight, dtype) for conv in tower_convs(folded)]
        self._biases = [conv.bias.to(dtype) for conv in tower_convs(folded)]
        self._mixer, self._mixer_bias = (part.to(dtype) for part in _head_mixer(folded))
        self.cells = _cells(folded, channels=len(self._mixer_bias))

    def load(self, folded: ResNet) -> None:
        self.net.load_state_dict(folded.state_dict())
        for conv, weight, bias in zip(tower_convs(folded), self._convs, self._biases, strict=True):
            weight[:, : conv.weight.shape[1]].copy_(conv.weight)
            bias.copy_(conv.bias)
        for own, new in zip((self._mixer, self._mixer_bias), _head_mixer(folded), strict=True):
            own.copy_(new)

    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        x = self._conv(0, aligned(planes, self._dtype))
        for first in range(1, len(self._convs), 2):
            x = self._conv(first + 1, self._conv(first, x), short_cut=x)
        return self.answer(x)

    def _conv(self, index: int, x: Tensor, short_cut: Tensor | None = None) -> Tensor:
        weight, bias, one = self._convs[index], self._biases[index], [1, 1]
        if short_cut is None:
            return torch.cudnn_convolution_relu(x, weight, bias, one, one, one, 1)
        return torch.cudnn_convolution_add_relu(x, weight, short_cut, 1.0, bias, one, one, one, 1)

    def answer(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Both heads' 1x1 convolutions in one multiplication, then their layers in float32."""
        policy, value = self.net.policy, self.net.value
        rows = x.permute(0, 2, 3, 1).reshape(-1, x.shape[1])
        mixed = torch.addmm(self._mixer_bias, rows, self._mixer)
        mixed = mixed.view(len(x), -1, mixed.shape[1])  # [B, H * W, C]
        split = policy.conv.out_channels
        drawn, seen = mixed[..., :split], mixed[..., split : split + value.conv.out_channels]
        hidden = functional.relu(value.hidden(_in_order(functional.relu(seen.float()))))
        if isinstance(policy, PolicyHead):
            return policy.last(_in_order(functional.relu(drawn.float()))), value.last(hidden)
        logits = mixed.flatten(1)
        if logits.dtype == torch.bfloat16:
            logits = logits.float()  # which kernels can read
        return logits, value.last(hidden)


class _Together:
    """An ensemble, each of its nets by the same method."""

    cells = None

    def __init__(self, folded: Ensemble, method: str) -> None:
        self._plans = [_plan(method, member) for member in folded.members]

    def load(self, folded: Ensemble) -> None:
        for plan, member in zip(self._plans, folded.members, strict=True):
            plan.load(member)

    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        return average([_ask(plan, planes) for plan in self._plans])


def _head_mixer(folded: ResNet) -> tuple[Tensor, Tensor]:
    """The 1x1 convolutions of both heads as one matrix [width, channels] and its bias."""
    convs = (folded.policy.conv, folded.value.conv)
    weight = torch.cat([conv.weight.flatten(1) for conv in convs])
    bias = torch.cat([conv.bias for conv in convs if conv.bias is not None])
    extra = -len(weight) % ALIGNED
    return functional.pad(weight, (0, 0, 0, extra)).t().contiguous(), functional.pad(
        bias, (0, extra)
    )


def _in_order(x: Tensor) -> Tensor:
    """[B, H * W, C] as the heads' layers take it, one channel after the other."""
    return x.transpose(1, 2).flatten(1)


def _ask(plan: Any, planes: Tensor) -> tuple[Tensor, Tensor]:
    """Logits of the actions in their order, and of the results."""
    logits, wdl = plan(planes)
    return _picked(logits, plan.cells), wdl


def _picked(logits: Tensor, cells: Tensor | None) -> Tensor:
    """The actions' logits in their order."""
    return logits if cells is None else logits.index_select(1, cells).float()


def _cells(folded: ResNet, *, channels: int) -> Tensor | None:
    """Where [B, H * W, C] of both heads holds the logit of each action drawn on the board."""
    if isinstance(folded.policy, PolicyHead):
        return None
    cells = folded.policy.get_buffer("cells")
    size = folded.value.hidden.in_features // folded.value.conv.out_channels
    return cells % size * channels + cells // size


def _plan(method: str, folded: nn.Module) -> Any:
    if method == "int8" and not isinstance(folded, ResNet):
        raise ConfigError(ONLY_RESIDUAL)
    if isinstance(folded, Ensemble):
        return _Together(folded, method)
    if method.startswith(("fused-", "int8")) and isinstance(folded, ResNet):
        return _Fused(folded, GPU_BACKENDS[method])
    return _Plain(folded, GPU_BACKENDS[method])


def _choose(folded: nn.Module, planes_shape: PlanesShape) -> BackendChoice:
    """The first method that runs and agrees with float32."""
    net, dropped = without_zero_layers(folded), {}
    device = next(net.parameters()).device
    boards = torch.from_numpy(random_boards(TRIAL_ROWS, planes_shape)).to(device)
    expected = _ask(_plan("float32", net), boards)
    for method in _methods(folded):
        try:
            found = _ask(_plan(method, net), boards)
        except (RuntimeError, AttributeError, AssertionError) as error:
            dropped[method] = f"failed: {str(error).partition(chr(10))[0]}"
            continue
        difference = disagreement(_probabilities(found), _probabilities(expected))
        if difference <= TOLERANCE:
            return BackendChoice(method, dropped=dropped)
        dropped[method] = f"differs from float32 by {difference:.3g}"
    raise AssertionError("float32 agrees with itself")


def _probabilities(logits: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    policy, wdl = logits
    return policy.softmax(1), wdl.softmax(1)


def _methods(folded: nn.Module) -> list[str]:
    """Those that differ for this net, but for eight bits."""
    can_fuse = any(isinstance(module, ResNet) for module in folded.modules())
    exact = [method for method in GPU_BACKENDS if method != "int8"]
    return [method for method in exact if can_fuse or not method.startswith("fused-")]


def _rounded(count: int) -> int:
    """The next power of two."""
    return max(SMALLEST_BATCH, 1 << (count - 1).bit_length())
