"""Compression of vectors that ranks exchange.

Half precision rounds every element. Top-k sends only the largest elements; the others are added to
the next vector (error feedback, Seide et al. 2014), so that nothing is lost for good.
"""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

HALVES = {"fp16": torch.float16, "bf16": torch.bfloat16}


class Codec(Protocol):
    """Encodes a vector to send it."""

    is_additive: bool
    """Whether encoded vectors may be added before they are decoded."""

    def encode(self, vector: Tensor) -> Tensor:
        """Return what is sent for `vector`."""

    def decode(self, sent: Tensor, length: int) -> Tensor:
        """Return the vector of `length` float32 elements that was sent."""


class Plain:
    """Sends every element, rounded to `dtype`."""

    is_additive = True

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        self.dtype = dtype

    def encode(self, vector: Tensor) -> Tensor:
        """Return the rounded vector."""
        return vector.to(self.dtype)

    def decode(self, sent: Tensor, length: int) -> Tensor:
        """Return the rounded vector in float32."""
        return sent.float()


class TopK:
    """Sends the elements of largest magnitude with their indices; the others wait."""

    is_additive = False

    def __init__(self, ratio: float) -> None:
        self.ratio = ratio
        self._residual: Tensor | None = None

    def encode(self, vector: Tensor) -> Tensor:
        """Return values, then indices, as one float32 vector; indices keep their bits."""
        if self._residual is not None and len(self._residual) == len(vector):
            vector = vector + self._residual
        indices = vector.abs().topk(self.kept(len(vector)), sorted=False).indices
        values = vector[indices]
        self._residual = vector.index_fill(0, indices, 0.0)
        return torch.cat([values, indices.to(torch.int32).view(torch.float32)])

    def decode(self, sent: Tensor, length: int) -> Tensor:
        """Return what was sent; all other elements are zero."""
        values, indices = sent.view(2, -1)
        dense = torch.zeros(length, device=values.device)
        return dense.index_add_(0, indices.view(torch.int32), values)

    def kept(self, length: int) -> int:
        """Return how many elements are sent; each takes the space of two."""
        return max(1, int(length * self.ratio))


def new_codec(name: str, ratio: float) -> Codec:
    """Return the codec called `name` (none, fp16, bf16, topk)."""
    if name == "topk":
        return TopK(ratio)
    return Plain(HALVES.get(name, torch.float32))


def decoded_sum(codec: Codec, sent: Sequence[Tensor], length: int) -> Tensor:
    """Return the sum of what several ranks sent."""
    total = codec.decode(sent[0], length).clone()
    for other in sent[1:]:
        total += codec.decode(other, length)
    return total
