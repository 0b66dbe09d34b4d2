"""How ranks come to the sum of their vectors: all at once, by way of one of them, or at a server.

all_reduce         everybody sends and adds; the sum is everywhere
gather_broadcast   the root gathers, adds, and sends the sum back
parameter_server   the root gathers and adds; what comes back is what it made of the sum
"""

from torch import Tensor

from rookery.learning.parallel.compress import Codec, decoded_sum
from rookery.learning.parallel.group import ROOT, ProcessGroup


class Exchange:
    """Sums vectors over a group; weights are the ranks' own business."""

    def __init__(self, group: ProcessGroup, codec: Codec, *, way: str) -> None:
        self.group, self._codec, self._way = group, codec, way
        self.is_serving = way == "parameter_server"
        """Whether the root alone comes to know the sum."""
        self.is_served = self.is_serving and group.rank != ROOT

    def sum(self, vector: Tensor) -> Tensor:
        """The sum over the ranks; what comes back at a rank that is served has no meaning."""
        if self.group.size == 1:
            return vector
        sent = self._codec.encode(vector)
        if self._way == "all_reduce":
            return self._everywhere(sent, len(vector))
        gathered = self.group.gather(sent)
        total = decoded_sum(self._codec, gathered, len(vector)) if gathered else vector
        return total if self.is_serving else self.group.spread(total)

    def _everywhere(self, sent: Tensor, length: int) -> Tensor:
        if self._codec.sums:
            return self._codec.decode(self.group.sum(sent), length)
        return decoded_sum(self._codec, self.group.collect(sent), length)
