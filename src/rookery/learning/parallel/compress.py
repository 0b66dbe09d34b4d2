"""What is left out of a vector before it is sent, and how the rest is brought up later.

Half precision loses bits of every number. The largest numbers alone (topk) lose whole numbers:
what was not sent is remembered and added to the next vector (error feedback), so that nothing is
lost for good.
"""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

HALVES = {"fp16": torch.float16, "bf16": torch.bfloat16}


class Codec(Protocol):
    """A way to send a vector."""

    sums: bool
    """Whether what was encoded may be added up before it is decoded."""

    def encode(self, vector: Tensor) -> Tensor:
        """What is sent for `vector`."""

    def decode(self, sent: Tensor, length: int) -> Tensor:
        """The vector of `length` float32 that was sent."""


class Plain:
    """Everything is sent, in the precision given."""

    sums = True

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        self.dtype = dtype

    def encode(self, vector: Tensor) -> Tensor:
        """The vector, rounded."""
        return vector.to(self.dtype)

    def decode(self, sent: Tensor, length: int) -> Tensor:
        """The rounded vector."""
        return sent.float()


class TopK:
    """The largest numbers of a vector and where they belong; the others wait."""

    sums = False

    def __init__(self, ratio: float) -> None:
        self.ratio = ratio
        self._waiting: Tensor | None = None

    def encode(self, vector: Tensor) -> Tensor:
        """Values, then places, as one vector of float32; a place is stored bit for bit."""
        if self._waiting is not None and len(self._waiting) == len(vector):
            vector = vector + self._waiting
        places = vector.abs().topk(self.kept(len(vector)), sorted=False).indices
        values = vector[places]
        self._waiting = vector.index_fill(0, places, 0.0)
        return torch.cat([values, places.to(torch.int32).view(torch.float32)])

    def decode(self, sent: Tensor, length: int) -> Tensor:
        """Zero but for what was sent."""
        values, places = sent.view(2, -1)
        dense = torch.zeros(length, device=values.device)
        return dense.index_add_(0, places.view(torch.int32), values)

    def kept(self, length: int) -> int:
        """Numbers sent; each takes the bytes of two, so that half of them save nothing."""
        return max(1, int(length * self.ratio))


def new_codec(name: str, ratio: float) -> Codec:
    """The codec called `name` (none, fp16, bf16, topk)."""
    if name == "topk":
        return TopK(ratio)
    return Plain(HALVES.get(name, torch.float32))


def decoded_sum(codec: Codec, sent: Sequence[Tensor], length: int) -> Tensor:
    """The sum of what several ranks sent."""
    total = codec.decode(sent[0], length).clone()
    for other in sent[1:]:
        total += codec.decode(other, length)
    return total
