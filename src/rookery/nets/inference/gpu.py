"""Fast evaluation on a GPU: planes in device memory in, logits and probabilities out.

The tower runs in half precision, channels last, batch norm folded, by the first backend of
`gpu_backends` that works. New weights are copied into the tensors in use, so that captured graphs
use them at the next replay.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rookery.base import ConfigError, UnknownName
from rookery.gpu import Graph, Parts
from rookery.nets.build import NetConfig, PlanesShape
from rookery.nets.inference.backend import (
    BackendChoice,
    are_finite,
    check_outputs,
    check_weights,
    random_boards,
)
from rookery.nets.inference.gpu_backends import (
    GPU_BACKENDS,
    TRIAL_ROWS,
    FusedBackend,
    action_logits,
    choose_backend,
    evaluate,
    new_backend,
)
from rookery.nets.inference.int8 import Int8Evaluator, check_int8
from rookery.nets.inference.quantize import ONLY_RESIDUAL
from rookery.nets.resnet import Outputs, fold

PROBE_ROWS = 8
SMALLEST_BATCH = 32
MAX_BATCH = 2**20
INT8_WIDTH, INT8_CAPABILITY = 128, (9, 0)
"""8 bits were measured to be faster with this width, on a GPU of this generation (H200)."""


def check_backend(backend: str, config: NetConfig, device: torch.device) -> None:
    """Refuse a backend that cannot run such a network, or that is not installed."""
    if backend == "int8":
        if config.kind != "resnet" or config.members > 1:
            raise ConfigError(ONLY_RESIDUAL)
        if device.type == "cuda":
            check_int8(config.width)


def fastest_backend(config: NetConfig, device: torch.device) -> str:
    """Return int8 where it is known to be faster and can be used, otherwise auto."""
    is_wide = config.width >= INT8_WIDTH
    if not is_wide or torch.cuda.get_device_capability(device) < INT8_CAPABILITY:
        return "auto"
    try:
        check_backend("int8", config, device)
    except ConfigError:
        return "auto"
    return "int8"


class GpuEvaluator:
    """A network on a GPU for fast evaluation; its weights can be replaced in place."""

    @torch.inference_mode()
    def __init__(
        self,
        net: nn.Module,
        planes_shape: PlanesShape,
        *,
        device: torch.device,
        backend: str = "auto",
    ) -> None:
        if backend not in ("auto", *GPU_BACKENDS):
            raise UnknownName("inference backend", backend, ("auto", *GPU_BACKENDS))
        self._has_finite_weights = are_finite(net.state_dict().values())
        check_weights(self._has_finite_weights)
        self._has_finite_outputs = torch.ones((), dtype=torch.bool, device=device)
        torch.backends.cudnn.benchmark = True
        self.planes_shape = planes_shape
        self.device = device
        folded = fold(net).to(device)
        is_auto = backend == "auto"
        self.choice = choose_backend(folded, planes_shape) if is_auto else BackendChoice(backend)
        self._network = new_backend(self.backend, folded)
        self.cells: Tensor | None = self._network.cells
        """Index of each action's logit in a row of `forward`'s logits; None: in order."""
        self._probe = self._random_boards(PROBE_ROWS)
        self.selfplay_evaluator = self._new_int8() if self.backend == "int8" else self
        """The evaluator for self-play games: in int8 if the backend is."""
        self._graphs: dict[int, _CapturedForward] = {}
        self._parts = Parts(
            "positions", MAX_BATCH, smallest=SMALLEST_BATCH, release=self._drop_graphs
        )

    @property
    def backend(self) -> str:
        """Name of the backend in use."""
        return self.choice.backend

    @torch.inference_mode()
    def load(self, net: nn.Module) -> None:
        """Take the weights of `net`, of the same shape; `check` reports if they overflow."""
        self._has_finite_weights = are_finite(net.state_dict().values())
        self._network.load(fold(net))
        if isinstance(self.selfplay_evaluator, Int8Evaluator):
            self.selfplay_evaluator.load()
        self._has_finite_outputs = are_finite(evaluate(self._network, self._probe))

    def check(self) -> None:
        """Refuse weights or outputs that are not finite; wait for the last `load`."""
        check_weights(self._has_finite_weights)
        check_outputs(self._has_finite_outputs, self.backend)

    @torch.inference_mode()
    def forward(self, planes: Tensor) -> Outputs:
        """Return logits [B, A or more] and win, draw, loss probabilities [B, 3]."""
        logits, wdl = self._network(planes)
        return logits, wdl.softmax(1)

    def adapt(self, boards: Tensor) -> None:
        """Do nothing: 16 bits and more fit all boards."""

    def __call__(
        self, planes: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return logits [B, A] and probabilities [B, 3] of planes in host memory."""
        results = self._parts.each(len(planes), lambda part: self._evaluate(planes[part]))
        logits, wdl = zip(*results, strict=True)
        return np.concatenate(logits), np.concatenate(wdl)

    def _evaluate(
        self, planes: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        count = len(planes)
        size = max(SMALLEST_BATCH, 1 << (count - 1).bit_length())  # so that few are captured
        if size not in self._graphs:
            self._graphs[size] = _CapturedForward(self, size)
        logits, wdl = self._graphs[size](torch.from_numpy(planes))
        return logits[:count].cpu().numpy(), wdl[:count].cpu().numpy()

    def _drop_graphs(self) -> bool:
        had_graphs = bool(self._graphs)
        self._graphs.clear()
        return had_graphs

    def _random_boards(self, count: int) -> Tensor:
        return torch.from_numpy(random_boards(count, self.planes_shape)).to(self.device)

    def _new_int8(self) -> Int8Evaluator:
        assert isinstance(self._network, FusedBackend)
        return Int8Evaluator(self._network, self._random_boards(TRIAL_ROWS))


class _CapturedForward:
    """The forward pass for one batch size as a CUDA graph, which uses weights loaded later."""

    def __init__(self, evaluator: GpuEvaluator, rows: int) -> None:
        self._evaluator = evaluator
        self._planes = torch.zeros((rows, *evaluator.planes_shape), device=evaluator.device)
        self._graph = Graph(self._forward, evaluator.device)

    def __call__(self, planes: Tensor) -> Outputs:
        """Return the outputs of `planes`, followed by those of unused rows."""
        self._planes[: len(planes)].copy_(planes)
        self._graph()
        return self._outputs

    def _forward(self) -> None:
        logits, wdl = self._evaluator.forward(self._planes)
        self._outputs = action_logits(logits, self._evaluator.cells), wdl
