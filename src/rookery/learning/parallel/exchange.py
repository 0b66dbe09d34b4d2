"""How ranks sum their vectors.

all_reduce         all ranks compute the sum together
gather_broadcast   the root gathers the vectors, adds them, and broadcasts the sum
parameter_server   the root gathers and adds; the others later receive the weights it computes
"""

from torch import Tensor

from rookery.learning.parallel.compress import Codec, decoded_sum
from rookery.learning.parallel.group import ROOT, ProcessGroup


class Exchange:
    """Sums vectors over a group, without weighting them."""

    def __init__(self, group: ProcessGroup, codec: Codec, *, method: str) -> None:
        self.group, self._codec, self._method = group, codec, method
        self.has_server = method == "parameter_server"
        """Whether only the root gets the sum."""
        self.is_served = self.has_server and group.rank != ROOT

    def sum(self, vector: Tensor) -> Tensor:
        """Return the sum over the ranks; without meaning at a rank that is served."""
        if self.group.size == 1:
            return vector
        sent = self._codec.encode(vector)
        if self._method == "all_reduce":
            return self._sum_at_all(sent, len(vector))
        gathered = self.group.gather(sent)
        total = decoded_sum(self._codec, gathered, len(vector)) if gathered else vector
        return total if self.has_server else self.group.broadcast(total)

    def _sum_at_all(self, sent: Tensor, length: int) -> Tensor:
        if self._codec.is_additive:
            return self._codec.decode(self.group.all_reduce(sent), length)
        return decoded_sum(self._codec, self.group.all_gather(sent), length)
