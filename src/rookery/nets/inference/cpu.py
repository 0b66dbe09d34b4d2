"""Fast evaluation for searches on the CPU, by the fastest backend that agrees with float32.

    float32, float16, bfloat16      torch modules, channels last
    compiled, compiled-float16, compiled-bfloat16    torch.compile; needs a C++ compiler
    openvino                        OpenVINO, if that extra is installed
    int8                            8 bits by oneDNN (see `int8_cpu`); only on request
    mps-float16, mps-float32        on an Apple GPU (see `mps`)

Which one is fast depends on the processor: bfloat16 is several times faster than float32 with
AMX and hundreds of times slower without. So "auto" measures. Only the tower runs in lower
precision; the heads run in float32. The same backend with the same number of threads on the same
machine gives the same bits for the same batch; otherwise the last bits of a row may differ.
"""

import importlib
import importlib.util
import shutil
import time
import warnings
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rookery.base import ConfigError, RookeryError, UnknownName, keep_freed_memory
from rookery.nets.build import PlanesShape
from rookery.nets.inference.backend import (
    Backend,
    BackendChoice,
    Planes,
    TorchBackend,
    are_finite,
    check_outputs,
    check_weights,
    disagreement,
    pad_rows,
    random_boards,
    tolerated,
)
from rookery.nets.inference.int8_cpu import MEASURED_ROWS, Int8CpuBackend, is_int8_supported
from rookery.nets.inference.mps import MPS_BACKENDS, MpsBackend
from rookery.nets.resnet import Outputs, fold, without_zero_layers

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
COMPILED = {
    "compiled": torch.float32,
    "compiled-float16": torch.float16,
    "compiled-bfloat16": torch.bfloat16,
}
COMPILERS = ("g++", "c++", "clang++", "clang")
CPU_BACKENDS = (*DTYPES, *COMPILED, "openvino", "int8")
CPU = torch.device("cpu")

MEASURE_SECONDS = 0.2
WARM_UPS = 2
"""Calls before the speed of a backend is measured: in 8 bits, the first one measures ranges and the
next one compiles."""
COMPILE_SECONDS = 20.0
"""Time that torch.compile may take on a slow core."""
SMALL_BATCHES = (1, 8)
MAX_SLOWDOWN = 6
"""A backend this many times slower than float32 on a small batch is not measured further."""
SLOWDOWN_TRIES = 3
"""Tries before that verdict: the first call prepares kernels, others may be disturbed."""
SLOWDOWN_SECONDS = 1.0
"""Time after which there is no further try."""


class CpuEvaluator:
    """A network for fast, repeated evaluation; its weights can be replaced in place."""

    @torch.inference_mode()
    def __init__(
        self,
        net: nn.Module,
        planes_shape: PlanesShape,
        *,
        backend: str = "auto",
        batch_size: int = 256,
        threads: int | None = None,
        compile_seconds: float = 0.0,
        device: torch.device = CPU,
    ) -> None:
        """Run at most `batch_size` rows at once on the CPU or on `mps`; larger batches are split.

        `threads` sets torch's number of threads for the whole process. The backend "auto" tries
        torch.compile only if `compile_seconds`, the time it may take, is COMPILE_SECONDS or more.
        "fastest" tries int8 too, which is less exact.
        """
        if threads is not None:
            torch.set_num_threads(threads)
        keep_freed_memory()
        self.planes_shape = planes_shape
        self.batch_size = batch_size
        folded = fold(net).cpu()
        if backend in ("auto", "fastest"):
            trial = _BackendTrial(folded, planes_shape, batch_size=batch_size)
            if device.type == "mps":
                trial.measure_on_mps()
            else:
                trial.measure_on_cpu(
                    can_compile=compile_seconds >= COMPILE_SECONDS, may_round=backend == "fastest"
                )
            self._network, self.choice = trial.choose()
        else:
            self._network = new_backend(backend, folded, planes_shape, batch_size=batch_size)
            self.choice = BackendChoice(backend)
        self.load(net)

    @property
    def backend(self) -> str:
        """Name of the backend in use."""
        return self.choice.backend

    @property
    def is_padded(self) -> bool:
        """Whether batches are filled up to `batch_size` rows."""
        return self.backend in (*COMPILED, "openvino")

    @torch.inference_mode()
    def load(self, net: nn.Module) -> None:
        """Take the weights of `net`, of the same shape; raise RookeryError if they overflow."""
        check_weights(are_finite(net.state_dict().values()))
        self._network.load(fold(net).cpu())
        network = self._network
        evaluate = network.exact if isinstance(network, Int8CpuBackend) else network
        outputs = evaluate(torch.from_numpy(random_boards(1, self.planes_shape)))
        check_outputs(are_finite(outputs), self.backend)

    @torch.inference_mode()
    def __call__(self, planes: Planes) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return logits [B, A] and win, draw, loss probabilities [B, 3] of planes [B, P, H, W]."""
        if planes.shape[1:] != self.planes_shape or planes.dtype != np.float32:
            raise ValueError(
                f"got planes {planes.dtype} {planes.shape}, expected float32 with rows of "
                f"{self.planes_shape}; was this network trained for another game?"
            )
        rows = torch.from_numpy(planes)
        parts = [self._network(part) for part in torch.split(rows, self.batch_size)]
        logits = torch.cat([logits for logits, _ in parts]).numpy()
        wdl = torch.cat([wdl.softmax(1) for _, wdl in parts]).numpy()
        return logits, wdl


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
        self._networks: dict[str, Backend] = {}
        self._rates: dict[str, float] = {}
        self._dropped: dict[str, str] = {}

    def measure_on_cpu(self, *, can_compile: bool, may_round: bool) -> None:
        """Measure the backends of the CPU."""
        for backend in DTYPES:
            self._measure(backend)
        if can_compile and not missing_for("compiled"):
            dtype = DTYPES[self._fastest()]
            self._measure(next(name for name in COMPILED if COMPILED[name] == dtype))
        if not missing_for("openvino"):
            self._measure("openvino")
        if may_round and not missing_for("int8"):
            self._measure("int8")

    def measure_on_mps(self) -> None:
        """Measure the backends of an Apple GPU."""
        for backend in MPS_BACKENDS:
            self._measure(backend)
        if not self._rates:
            reasons = "; ".join(f"{backend} {why}" for backend, why in self._dropped.items())
            raise RookeryError(f"mps cannot evaluate this network: {reasons}; use --devices cpu")

    def choose(self) -> tuple[Backend, BackendChoice]:
        """Return the fastest backend of those measured, and how it was chosen."""
        fastest = self._fastest()
        return self._networks[fastest], BackendChoice(fastest, self._rates, self._dropped)

    def _measure(self, backend: str) -> None:
        """Add `backend` to the rates, or the reason for its rejection to those dropped."""
        size = len(self._boards)
        try:
            network = new_backend(backend, self._net, self._planes_shape, batch_size=size)
            reason = self._reject(backend, network)
        except (ConfigError, RuntimeError, AssertionError) as error:  # torch.compile's code asserts
            reason = f"failed: {str(error).partition(chr(10))[0]}"
        if reason:
            self._dropped[backend] = reason
        else:
            if isinstance(network, Int8CpuBackend):  # its first rows are in float32
                network(torch.from_numpy(random_boards(MEASURED_ROWS, self._planes_shape)))
            for _ in range(WARM_UPS):
                network(self._boards)
            self._networks[backend] = network
            self._rates[backend] = size / best_seconds(lambda: network(self._boards))

    def _fastest(self) -> str:
        return max(self._rates, key=self._rates.__getitem__)

    def _reject(self, backend: str, network: Backend) -> str:
        """Return why `backend` cannot be used, or an empty string."""
        if backend in ("float32", "int8"):  # the reference; less exact by design
            return ""
        counts = [count for count in SMALL_BATCHES if count <= len(self._boards)]
        if backend in DTYPES and any(self._is_too_slow(network, count) for count in counts):
            return f"too slow: small batches take over {MAX_SLOWDOWN} times as long as in float32"
        error = disagreement(network(self._boards), self._expected)
        limit = tolerated(self._float32, self._boards, self._expected)
        return "" if error <= limit else f"differs from float32 by {error:.3g}"

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


def new_backend(
    backend: str, folded: nn.Module, planes_shape: PlanesShape, *, batch_size: int
) -> Backend:
    """Return the folded network as the backend of this name runs it."""
    if backend in MPS_BACKENDS:
        return MpsBackend(folded, MPS_BACKENDS[backend])
    if backend not in CPU_BACKENDS:
        raise UnknownName("inference backend", backend, ("auto", *CPU_BACKENDS, *MPS_BACKENDS))
    if missing := missing_for(backend):
        raise ConfigError(
            f"inference backend {backend} needs {missing}, which is not here; choose auto"
        )
    if backend == "openvino":
        return OpenVinoBackend(folded, planes_shape, batch_size=batch_size)
    if backend == "int8":
        return Int8CpuBackend(folded)
    if backend in COMPILED:
        return TorchBackend(folded, COMPILED[backend], padded_to=batch_size)
    return TorchBackend(folded, DTYPES[backend])


def missing_for(backend: str) -> str:
    """Return what `backend` needs and this machine does not have, or an empty string."""
    if backend == "openvino":
        return "" if importlib.util.find_spec("openvino") else "the openvino package"
    if backend == "int8":
        return "" if is_int8_supported() else "an x86 processor"
    if backend in COMPILED:
        return "" if any(map(shutil.which, COMPILERS)) else f"a C++ compiler ({COMPILERS[0]})"
    return ""


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def best_seconds(call: Callable[[], object], within: float = MEASURE_SECONDS) -> float:
    """Return the shortest of the calls that fit into a time: the machine may be shared."""
    end = time.perf_counter() + within
    best = _seconds(call)
    while time.perf_counter() < end:
        best = min(best, _seconds(call))
    return best
