"""Ways to run a folded net on the CPU, and which of them is the fastest here and agrees.

    float32, float16, bfloat16      torch as it is, channels last
    compiled, compiled-float16, compiled-bfloat16    torch.compile; needs a C++ compiler
    openvino                        OpenVINO, if that extra is installed

Which one is fast depends on the processor: bfloat16 is several times faster than float32 with
AMX and hundreds of times slower without. So "auto" measures. Fewer bits concern the tower only;
the heads run in float32.
"""

import copy
import importlib
import importlib.util
import shutil
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rookery.base import ConfigError, UnknownName, generator
from rookery.nets.build import PlanesShape
from rookery.nets.resnet import TowerConv, without_zero_layers

Planes = NDArray[np.float32]
Outputs = tuple[Tensor, Tensor]

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
COMPILED = {
    "compiled": torch.float32,
    "compiled-float16": torch.float16,
    "compiled-bfloat16": torch.bfloat16,
}
COMPILERS = ("g++", "c++", "clang++", "clang")
CPU_BACKENDS = (*DTYPES, *COMPILED, "openvino")

MEASURE_SECONDS = 0.2
COMPILE_SECONDS = 20.0
"""What torch.compile may take on a slow core."""
FEW = (1, 8)
HOPELESS = 6
"""A method this many times slower than float32 on a few boards is not measured further."""
HOPELESS_TRIES = 3
"""Before giving up: the first call prepares kernels, others may be disturbed."""
HOPELESS_SECONDS = 1.0
"""After which nothing more is tried."""
TOLERANCE = 0.02
"""Largest disagreement with float32 that a method may show."""
WORST = 10
"""How many times as far as on average a method may be off on a single board."""


@dataclass(frozen=True)
class BackendChoice:
    """How a method was chosen. A run that resumes asks for `method` by name."""

    method: str
    rates: Mapping[str, float] = field(default_factory=dict)
    """Evaluations a second of every method measured, at the evaluator's batch size."""
    dropped: Mapping[str, str] = field(default_factory=dict)
    """Why a method tried was not measured or not trusted."""


class Plan(Protocol):
    """One way to run a folded net on at most batch_size rows; outputs are float32."""

    def load(self, folded: nn.Module) -> None: ...

    def __call__(self, rows: Tensor) -> Outputs: ...


class _TorchPlan:
    """Torch as it is; a compiled one always sees `padded_to` rows, so it compiles only once."""

    def __init__(self, folded: nn.Module, dtype: torch.dtype, *, padded_to: int = 0) -> None:
        self._dtype = dtype
        self._net = in_precision(folded, dtype)
        self._padded_to = padded_to
        # Without freezing, weights stay inputs of the compiled code and can change in place.
        self._forward: Any = torch.compile(self._net, dynamic=False) if padded_to else self._net

    def load(self, folded: nn.Module) -> None:
        self._net.load_state_dict(folded.state_dict())

    def __call__(self, rows: Tensor) -> Outputs:
        wanted = _padded(rows, self._padded_to) if self._padded_to else rows
        wanted = wanted.to(self._dtype, memory_format=torch.channels_last)
        logits, wdl = self._forward(wanted)
        return logits[: len(rows)], wdl[: len(rows)].softmax(1)


class _OpenVinoPlan:
    """OpenVINO, in the precision it prefers here; new weights compile its model again."""

    def __init__(self, folded: nn.Module, planes_shape: PlanesShape, *, batch_size: int) -> None:
        self._shape = (batch_size, *planes_shape)
        self.load(folded)

    def load(self, folded: nn.Module) -> None:
        # Straight through the front end: openvino.convert_model carries telemetry.
        openvino = importlib.import_module("openvino")
        decoder = importlib.import_module("openvino.frontend.pytorch.ts_decoder")
        front_end = openvino.frontend.FrontEndManager().load_by_framework("pytorch")
        with warnings.catch_warnings():  # it traces, which torch wants to retire
            warnings.simplefilter("ignore", DeprecationWarning)
            example = torch.zeros(self._shape)
            source = decoder.TorchScriptPythonDecoder(folded, example_input=example)
        model = front_end.convert(front_end.load(source))
        model.reshape(list(self._shape))
        threads = {"INFERENCE_NUM_THREADS": torch.get_num_threads()}
        self._compiled = openvino.Core().compile_model(model, "CPU", threads)

    def __call__(self, rows: Tensor) -> Outputs:
        results = self._compiled([_padded(rows, self._shape[0]).numpy()])
        logits, wdl = (torch.from_numpy(results[index][: len(rows)].copy()) for index in (0, 1))
        return logits, wdl.softmax(1)


class _Trial:
    """Measures methods on a stand-in for the net, and remembers what it saw."""

    def __init__(self, folded: nn.Module, planes_shape: PlanesShape, *, batch_size: int) -> None:
        self._net = without_zero_layers(folded)
        self._planes_shape = planes_shape
        self._boards = torch.from_numpy(random_boards(batch_size, planes_shape))
        self._plain = _TorchPlan(self._net, torch.float32)
        self._expected = self._plain(self._boards)
        self.plans: dict[str, Plan] = {}
        self.rates: dict[str, float] = {}
        self.dropped: dict[str, str] = {}

    def measure(self, method: str) -> None:
        """Add `method` to `rates`, or the reason why not to `dropped`."""
        try:
            plan = make_plan(method, self._net, self._planes_shape, batch_size=len(self._boards))
            reason = self._doubt(method, plan)
        except (RuntimeError, AssertionError) as error:  # code from torch.compile asserts
            reason = f"failed: {str(error).partition(chr(10))[0]}"
        if reason:
            self.dropped[method] = reason
        else:
            self.plans[method] = plan
            self.rates[method] = len(self._boards) / _best_seconds(lambda: plan(self._boards))

    def fastest(self) -> str:
        """The method of the highest rate."""
        return max(self.rates, key=self.rates.__getitem__)

    def _doubt(self, method: str, plan: Plan) -> str:
        if method == "float32":  # what the others are held against
            return ""
        few = [count for count in FEW if count <= len(self._boards)]
        if method in DTYPES and any(self._is_hopeless(plan, count) for count in few):
            return f"hopeless: a few boards take over {HOPELESS} times as long as in float32"
        (logits, wdl), (policy, value) = plan(self._boards), self._expected
        error = disagreement((logits.softmax(1), wdl), (policy.softmax(1), value))
        return "" if error <= TOLERANCE else f"differs from float32 by {error:.3g}"

    def _is_hopeless(self, plan: Plan, count: int) -> bool:
        boards = self._boards[:count]
        limit = HOPELESS * min(_seconds(lambda: self._plain(boards)) for _ in range(5))
        end = time.perf_counter() + HOPELESS_SECONDS
        for _ in range(HOPELESS_TRIES):
            if _seconds(lambda: plan(boards)) <= limit:
                return False
            if time.perf_counter() > end:
                break
        return True


def choose(
    folded: nn.Module, planes_shape: PlanesShape, *, batch_size: int, may_compile: bool
) -> tuple[Plan, BackendChoice]:
    """The fastest method here that agrees with float32, and how it was found."""
    trial = _Trial(folded, planes_shape, batch_size=batch_size)
    for method in DTYPES:
        trial.measure(method)
    if may_compile and not lacks("compiled"):
        dtype = DTYPES[trial.fastest()]
        trial.measure(next(name for name in COMPILED if COMPILED[name] == dtype))
    if not lacks("openvino"):
        trial.measure("openvino")
    method = trial.fastest()
    return trial.plans[method], BackendChoice(method, trial.rates, trial.dropped)


def make_plan(
    method: str, folded: nn.Module, planes_shape: PlanesShape, *, batch_size: int
) -> Plan:
    """The folded net, run by a method of this name."""
    if method not in CPU_BACKENDS:
        raise UnknownName("inference method", method, ("auto", *CPU_BACKENDS))
    if lacked := lacks(method):
        raise ConfigError(f"inference method {method} needs {lacked}; install it or choose auto")
    if method == "openvino":
        return _OpenVinoPlan(folded, planes_shape, batch_size=batch_size)
    if method in COMPILED:
        return _TorchPlan(folded, COMPILED[method], padded_to=batch_size)
    return _TorchPlan(folded, DTYPES[method])


def lacks(method: str) -> str:
    """What this machine lacks for `method`, or an empty text."""
    if method == "openvino":
        return "" if importlib.util.find_spec("openvino") else "the openvino package"
    if method in COMPILED:
        return "" if any(map(shutil.which, COMPILERS)) else f"a C++ compiler ({COMPILERS[0]})"
    return ""


def in_precision(folded: nn.Module, dtype: torch.dtype) -> nn.Module:
    """A copy that keeps its tower in `dtype`, channels last."""
    net = copy.deepcopy(folded)
    for module in net.modules():
        if isinstance(module, TowerConv):
            module.weight.data = module.weight.to(dtype, memory_format=torch.channels_last)
            assert module.bias is not None
            module.bias.data = module.bias.to(dtype)
    return net


def disagreement(found: Outputs, expected: Outputs) -> float:
    """How far apart the probabilities of two methods are: on average over boards, by the largest.

    Rounding moves some probability of a trained net by more than that on a few boards, and tips
    neurons of a net that spikes on nearly all: a single board counts by a WORSTth.
    """
    gaps = [(mine - theirs).abs().amax(1) for mine, theirs in zip(found, expected, strict=True)]
    largest = torch.stack(gaps).amax(0)
    return max(largest.mean().item(), largest.max().item() / WORST)


def random_boards(count: int, planes_shape: PlanesShape) -> Planes:
    """Planes [count, P, H, W] of random stones, one on every other cell, always the same."""
    planes, *cells = planes_shape
    stones = generator(0, "inference boards").integers(2 * planes, size=(count, 1, *cells))
    boards: Planes = (stones == np.arange(planes).reshape(-1, 1, 1)).astype(np.float32)
    return boards


def _padded(rows: Tensor, count: int) -> Tensor:
    """`rows` followed by zeros, `count` in all."""
    if len(rows) == count:
        return rows
    return torch.cat([rows, rows.new_zeros(count - len(rows), *rows.shape[1:])])


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _best_seconds(call: Callable[[], object]) -> float:
    """The shortest of the calls that fit into MEASURE_SECONDS: others may share the machine."""
    end = time.perf_counter() + MEASURE_SECONDS
    best = _seconds(call)
    while time.perf_counter() < end:
        best = min(best, _seconds(call))
    return best
