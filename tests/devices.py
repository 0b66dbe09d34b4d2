"""Evaluators that answer a search on a GPU, or in its simulator, as they do one on the CPU."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class Linear:
    """Logits and values as a fixed linear function of the planes, on any device."""

    def __init__(self, planes_shape: tuple[int, int, int], num_actions: int) -> None:
        stream = np.random.default_rng(3)
        inputs = int(np.prod(planes_shape))
        self._policy = torch.tensor(stream.normal(size=(inputs, num_actions)), dtype=torch.float32)
        self._value = torch.tensor(stream.normal(size=(inputs, 3)), dtype=torch.float32)

    def __call__(self, planes: NDArray[np.float32]) -> tuple[NDArray[Any], NDArray[Any]]:
        logits, wdl = self._answer(torch.from_numpy(planes))
        return logits.numpy(), wdl.numpy()

    def on(self, device: torch.device) -> "LinearOn":
        return LinearOn(self, device)

    def _answer(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        rows = planes.flatten(1)
        policy, value = self._policy.to(planes.device), self._value.to(planes.device)
        return rows @ policy, (rows @ value).softmax(1)


class LinearOn:
    """The same, as a search on `device` asks it."""

    cells: Tensor | None = None

    def __init__(self, linear: Linear, device: torch.device) -> None:
        self._linear = linear
        self.device = device
        linear._policy, linear._value = linear._policy.to(device), linear._value.to(device)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        return self._linear._answer(planes)

    def adapt(self, planes: Tensor) -> None:
        pass
