"""The backends for the CPU, and the choice of the fastest one that agrees with float32.

    float32, float16, bfloat16      torch modules, channels last
    compiled, compiled-float16, compiled-bfloat16    torch.compile; needs a C++ compiler
    openvino                        OpenVINO, if that extra is installed

Which one is fast depends on the processor: bfloat16 is several times faster than float32 with
AMX and hundreds of times slower without. So "auto" measures. Only the tower runs in lower
precision; the heads run in float32.
"""

import importlib
import importlib.util
import shutil
import time
import warnings
from collections.abc import Callable

import torch
from torch import Tensor, nn

from rookery.base import ConfigError, UnknownName
from rookery.nets.build import PlanesShape
from rookery.nets.inference.backend import (
    TOLERANCE,
    Backend,
    BackendChoice,
    TorchBackend,
    disagreement,
    pad_rows,
    random_boards,
)
from rookery.nets.resnet import Outputs, without_zero_layers

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
"""Time that torch.compile may take on a slow core."""
SMALL_BATCHES = (1, 8)
MAX_SLOWDOWN = 6
"""A backend this many times slower than float32 on a small batch is not measured further."""
SLOWDOWN_TRIES = 3
"""Tries before that verdict: the first call prepares kernels, others may be disturbed."""
SLOWDOWN_SECONDS = 1.0
"""Time after which there is no further try."""


class OpenVinoBackend:
    """OpenVINO in the precision it prefers here; new weights compile its model again."""

    def __init__(self, folded: nn.Module, planes_shape: PlanesShape, *, batch_size: int) -> None:
        self._shape = (batch_size, *planes_shape)
        self.load(folded)

    def load(self, folded: nn.Module) -> None:
        # Straight through the front end: openvino.convert_model carries telemetry.
        openvino = importlib.import_module("openvino")
        decoder = importlib.import_module("openvino.frontend.pytorch.ts_decoder")
        front_end = openvino.frontend.FrontEndManager().load_by_framework("pytorch")
        with warnings.catch_warnings():  # torch has deprecated the tracing that it does
            warnings.simplefilter("ignore", DeprecationWarning)
            example = torch.zeros(self._shape)
            source = decoder.TorchScriptPythonDecoder(folded, example_input=example)
        model = front_end.convert(front_end.load(source))
        model.reshape(list(self._shape))
        threads = {"INFERENCE_NUM_THREADS": torch.get_num_threads()}
        self._compiled = openvino.Core().compile_model(model, "CPU", threads)

    def __call__(self, planes: Tensor) -> Outputs:
        results = self._compiled([pad_rows(planes, self._shape[0]).numpy()])
        logits, wdl = (torch.from_numpy(results[index][: len(planes)].copy()) for index in (0, 1))
        return logits, wdl


class _BackendTrial:
    """Measures backends on a copy of the network without zero layers, and records the results."""

    def __init__(self, folded: nn.Module, planes_shape: PlanesShape, *, batch_size: int) -> None:
        self._net = without_zero_layers(folded)
        self._planes_shape = planes_shape
        self._boards = torch.from_numpy(random_boards(batch_size, planes_shape))
        self._float32 = TorchBackend(self._net, torch.float32)
        self._expected = self._float32(self._boards)
        self.networks: dict[str, Backend] = {}
        self.rates: dict[str, float] = {}
        self.dropped: dict[str, str] = {}

    def measure(self, backend: str) -> None:
        """Add `backend` to `rates`, or the reason for its rejection to `dropped`."""
        size = len(self._boards)
        try:
            network = new_backend(backend, self._net, self._planes_shape, batch_size=size)
            reason = self._reject(backend, network)
        except (RuntimeError, AssertionError) as error:  # code from torch.compile asserts
            reason = f"failed: {str(error).partition(chr(10))[0]}"
        if reason:
            self.dropped[backend] = reason
        else:
            self.networks[backend] = network
            self.rates[backend] = size / _best_seconds(lambda: network(self._boards))

    def fastest(self) -> str:
        """Return the backend of the highest rate."""
        return max(self.rates, key=self.rates.__getitem__)

    def _reject(self, backend: str, network: Backend) -> str:
        """Return why `backend` cannot be used, or an empty string."""
        if backend == "float32":  # the reference
            return ""
        counts = [count for count in SMALL_BATCHES if count <= len(self._boards)]
        if backend in DTYPES and any(self._is_too_slow(network, count) for count in counts):
            return f"too slow: small batches take over {MAX_SLOWDOWN} times as long as in float32"
        error = disagreement(network(self._boards), self._expected)
        return "" if error <= TOLERANCE else f"differs from float32 by {error:.3g}"

    def _is_too_slow(self, network: Backend, count: int) -> bool:
        boards = self._boards[:count]
        limit = MAX_SLOWDOWN * min(_seconds(lambda: self._float32(boards)) for _ in range(5))
        end = time.perf_counter() + SLOWDOWN_SECONDS
        for _ in range(SLOWDOWN_TRIES):
            if _seconds(lambda: network(boards)) <= limit:
                return False
            if time.perf_counter() > end:
                break
        return True


def choose_backend(
    folded: nn.Module, planes_shape: PlanesShape, *, batch_size: int, can_compile: bool
) -> tuple[Backend, BackendChoice]:
    """Return the fastest backend here that agrees with float32, and how it was chosen."""
    trial = _BackendTrial(folded, planes_shape, batch_size=batch_size)
    for backend in DTYPES:
        trial.measure(backend)
    if can_compile and not missing_for("compiled"):
        dtype = DTYPES[trial.fastest()]
        trial.measure(next(name for name in COMPILED if COMPILED[name] == dtype))
    if not missing_for("openvino"):
        trial.measure("openvino")
    fastest = trial.fastest()
    return trial.networks[fastest], BackendChoice(fastest, trial.rates, trial.dropped)


def new_backend(
    backend: str, folded: nn.Module, planes_shape: PlanesShape, *, batch_size: int
) -> Backend:
    """Return the folded network as the backend of this name runs it."""
    if backend not in CPU_BACKENDS:
        raise UnknownName("inference backend", backend, ("auto", *CPU_BACKENDS))
    if missing := missing_for(backend):
        raise ConfigError(f"inference backend {backend} needs {missing}; install it or choose auto")
    if backend == "openvino":
        return OpenVinoBackend(folded, planes_shape, batch_size=batch_size)
    if backend in COMPILED:
        return TorchBackend(folded, COMPILED[backend], padded_to=batch_size)
    return TorchBackend(folded, DTYPES[backend])


def missing_for(backend: str) -> str:
    """Return what `backend` needs and this machine does not have, or an empty string."""
    if backend == "openvino":
        return "" if importlib.util.find_spec("openvino") else "the openvino package"
    if backend in COMPILED:
        return "" if any(map(shutil.which, COMPILERS)) else f"a C++ compiler ({COMPILERS[0]})"
    return ""


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _best_seconds(call: Callable[[], object]) -> float:
    """Return the shortest of the calls that fit into MEASURE_SECONDS: the machine may be shared."""
    end = time.perf_counter() + MEASURE_SECONDS
    best = _seconds(call)
    while time.perf_counter() < end:
        best = min(best, _seconds(call))
    return best
