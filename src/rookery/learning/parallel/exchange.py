"""How ranks sum their vectors, and how these are compressed.

all_reduce         all ranks compute the sum together
gather_broadcast   the root gathers the vectors, adds them, and broadcasts the sum
parameter_server   the root gathers and adds; the others later receive the weights it computes

Half precision rounds every element. Top-k sends only the largest elements; the others are added to
the next vector (error feedback, Seide et al. 2014), so that nothing is lost for good. Vectors and
sums are compressed. The weights of a parameter server are not: rounding would undo small steps.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from rookery.learning.config import LearningConfig
from rookery.learning.parallel.group import ROOT, ProcessGroup

HALVES = {"fp16": torch.float16, "bf16": torch.bfloat16}


class Plain:
    """Sends every element, rounded to `dtype`; encoded vectors may be added."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype

    def encode(self, vector: Tensor) -> Tensor:
        """Return the rounded vector."""
        return vector.to(self.dtype)

    def decode(self, sent: Tensor, length: int) -> Tensor:
        """Return the rounded vector in float32."""
        return sent.float()


class TopK:
    """Sends the elements of largest magnitude with their indices; the others wait."""

    def __init__(self, ratio: float) -> None:
        self.ratio = ratio
        self._residual: Tensor | None = None

    def encode(self, vector: Tensor) -> Tensor:
        """Return values, then indices, as one float32 vector; indices keep their bits."""
        if self._residual is not None and len(self._residual) == len(vector):
            vector = vector + self._residual
        kept = max(1, int(len(vector) * self.ratio))  # each takes the space of two
        indices = vector.abs().topk(kept, sorted=False).indices
        values = vector[indices]
        self._residual = vector.index_fill(0, indices, 0.0)
        return torch.cat([values, indices.to(torch.int32).view(torch.float32)])

    def decode(self, sent: Tensor, length: int) -> Tensor:
        """Return the vector of `length` elements; those that were not sent are zero."""
        values, indices = sent.view(2, -1)
        dense = torch.zeros(length, device=values.device)
        return dense.index_add_(0, indices.view(torch.int32), values)


def decoded_sum(codec: Plain | TopK, sent: Sequence[Tensor], length: int) -> Tensor:
    """Return the sum of what several ranks sent."""
    total = codec.decode(sent[0], length).clone()
    for other in sent[1:]:
        total += codec.decode(other, length)
    return total


class Exchange:
    """Sums vectors over a group, without weighting them."""

    def __init__(self, group: ProcessGroup, config: LearningConfig) -> None:
        self.group, self._method = group, config.synchronise
        self.has_server = self._method == "parameter_server" and group.size > 1
        """Whether only the root gets the sum."""
        self.is_served = self.has_server and group.rank != ROOT
        self._codec: Plain | TopK = Plain(HALVES.get(config.compress, torch.float32))
        if config.compress == "topk":
            self._codec = TopK(config.compression_ratio)

    def sum(self, vector: Tensor) -> Tensor:
        """Return the sum over the ranks; without meaning at a rank that is served."""
        if self.group.size == 1:
            return vector
        sent, length = self._codec.encode(vector), len(vector)
        if self._method == "all_reduce":
            if isinstance(self._codec, Plain):
                return self._codec.decode(self.group.all_reduce(sent), length)
            return decoded_sum(self._codec, self.group.all_gather(sent), length)
        gathered = self.group.gather(sent)
        if self.has_server:
            return decoded_sum(self._codec, gathered, length) if gathered else vector
        return self._broadcast_sum(sent, gathered, length)

    def _broadcast_sum(self, sent: Tensor, gathered: Sequence[Tensor], length: int) -> Tensor:
        """Return the sum of what the root has gathered, at all ranks."""
        codec, size = self._codec, self.group.size
        if isinstance(codec, Plain):
            total = codec.encode(decoded_sum(codec, gathered, length)) if gathered else sent
            return codec.decode(self.group.broadcast(total), length)
        if size * len(sent) < length:  # the elements of all ranks are fewer than the whole sum
            parts = torch.cat(list(gathered)) if gathered else sent.repeat(size)
            return decoded_sum(codec, self.group.broadcast(parts).chunk(size), length)
        total = decoded_sum(codec, gathered, length) if gathered else sent.new_empty(length)
        return self.group.broadcast(total)
