"""The fast forward on the CPU: numpy planes in, numpy logits and probabilities out.

Batch norm is folded into the convolutions, and the folded net runs by one of several methods
(`methods`). The same method with the same number of threads on the same machine gives the same bits
for the same batch; another method or thread count, or the same row in a batch of another size, may
differ in the last bits.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rookery.base import RookeryError
from rookery.nets.build import PlanesShape
from rookery.nets.inference.cpu_backends import (
    COMPILE_SECONDS,
    BackendChoice,
    Planes,
    choose,
    make_plan,
    random_boards,
)
from rookery.nets.resnet import fold


class CpuEvaluator:
    """A net ready to be asked, often and fast; its weights can be replaced in place."""

    @torch.inference_mode()
    def __init__(
        self,
        net: nn.Module,
        planes_shape: PlanesShape,
        *,
        method: str = "auto",
        batch_size: int = 256,
        threads: int | None = None,
        compile_seconds: float = 0.0,
    ) -> None:
        """`batch_size` rows go through the net at once; a larger batch is cut, any size is taken.

        `threads` sets torch's own number for the whole process. "auto" tries torch.compile only
        if `compile_seconds`, the time you are ready to wait, is COMPILE_SECONDS or more.
        """
        if threads is not None:
            torch.set_num_threads(threads)
        self.planes_shape = planes_shape
        self.batch_size = batch_size
        folded = fold(net).cpu()
        if method == "auto":
            self._plan, self.choice = choose(
                folded,
                planes_shape,
                batch_size=batch_size,
                may_compile=compile_seconds >= COMPILE_SECONDS,
            )
        else:
            self._plan = make_plan(method, folded, planes_shape, batch_size=batch_size)
            self.choice = BackendChoice(method)
        self.load(net)

    @property
    def method(self) -> str:
        """The method in use."""
        return self.choice.method

    @torch.inference_mode()
    def load(self, net: nn.Module) -> None:
        """Take the weights of `net`, a net of the same shape; refused if they overflow."""
        self._plan.load(fold(net).cpu())
        logits, wdl = self._plan(torch.from_numpy(random_boards(1, self.planes_shape)))
        if not (logits.isfinite().all() and wdl.isfinite().all()):
            raise RookeryError(
                f"the net's outputs are not finite under {self.method}; "
                "evaluate it with float32, or go back to older weights and learn more slowly"
            )

    @torch.inference_mode()
    def __call__(self, planes: Planes) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Logits [B, A] and win, draw, loss probabilities [B, 3] of planes [B, P, H, W]."""
        if planes.shape[1:] != self.planes_shape or planes.dtype != np.float32:
            raise ValueError(
                f"got planes {planes.dtype} {planes.shape}, expected float32 with rows of "
                f"{self.planes_shape}; was this net trained for another game?"
            )
        rows = torch.from_numpy(planes)
        parts = [self._plan(part) for part in torch.split(rows, self.batch_size)]
        logits = torch.cat([part[0] for part in parts]).numpy()
        wdl = torch.cat([part[1] for part in parts]).numpy()
        return logits, wdl
