"""What searches answer."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Decisions:
    """The answers of G searches. Values are for the player to move.

    actions: [G] the move to make.
    policy: [G, A] the policy after the search.
    visits: [G, A] simulations per move.
    values: [G, 2] value and draw probability.
    """

    actions: NDArray[np.int32]
    policy: NDArray[np.float32]
    visits: NDArray[np.int32]
    values: NDArray[np.float32]
