"""Backends on the GPU of an Apple computer, for planes in host memory.

    mps-float16, mps-float32        torch modules, the tower in this precision

They have been tested only with the CPU in place of the GPU. The evaluator accepts one if it agrees
with float32 on the CPU.
"""

import torch
from torch import Tensor, nn
from torch.nn.utils import convert_conv2d_weight_memory_format

from rookery.nets.resnet import Outputs, in_precision

MPS_BACKENDS = {"mps-float16": torch.float16, "mps-float32": torch.float32}


class MpsBackend:
    """A network on an Apple GPU; planes are copied there, and results back."""

    device = torch.device("mps")

    def __init__(self, folded: nn.Module, dtype: torch.dtype) -> None:
        self._dtype = dtype
        net = convert_conv2d_weight_memory_format(
            in_precision(folded, dtype), torch.contiguous_format
        )
        self._net = net.to(self.device)

    def load(self, folded: nn.Module) -> None:
        self._net.load_state_dict(folded.state_dict())

    def __call__(self, planes: Tensor) -> Outputs:
        logits, wdl = self._net(planes.to(self.device, self._dtype))
        return logits.float().cpu(), wdl.float().cpu()
