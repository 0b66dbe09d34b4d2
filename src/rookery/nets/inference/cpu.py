"""Fast evaluation on the CPU: NumPy planes in, NumPy logits and probabilities out.

Batch norm is folded into the convolutions, and one of several backends (`cpu_backends`) runs the
folded network. The same backend with the same number of threads on the same machine gives the same
bits for the same batch. Another backend, number of threads or batch size may change the last bits
of a row.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rookery.nets.build import PlanesShape
from rookery.nets.inference.backend import (
    BackendChoice,
    Planes,
    are_finite,
    check_outputs,
    check_weights,
    random_boards,
)
from rookery.nets.inference.cpu_backends import COMPILE_SECONDS, choose_backend, new_backend
from rookery.nets.resnet import fold


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
    ) -> None:
        """Run at most `batch_size` rows at once; larger batches are split.

        `threads` sets torch's number of threads for the whole process. The backend "auto" tries
        torch.compile only if `compile_seconds`, the time it may take, is COMPILE_SECONDS or more.
        """
        if threads is not None:
            torch.set_num_threads(threads)
        self.planes_shape = planes_shape
        self.batch_size = batch_size
        folded = fold(net).cpu()
        if backend == "auto":
            self._network, self.choice = choose_backend(
                folded,
                planes_shape,
                batch_size=batch_size,
                can_compile=compile_seconds >= COMPILE_SECONDS,
            )
        else:
            self._network = new_backend(backend, folded, planes_shape, batch_size=batch_size)
            self.choice = BackendChoice(backend)
        self.load(net)

    @property
    def backend(self) -> str:
        """Name of the backend in use."""
        return self.choice.backend

    @torch.inference_mode()
    def load(self, net: nn.Module) -> None:
        """Take the weights of `net`, of the same shape; raise RookeryError if they overflow."""
        check_weights(are_finite(net.state_dict().values()))
        self._network.load(fold(net).cpu())
        outputs = self._network(torch.from_numpy(random_boards(1, self.planes_shape)))
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
