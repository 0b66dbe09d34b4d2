"""What searches answer."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Decisions:
    """The answers of G searches. Values are for the player to move.

    actions: [G] the move to make.
    legal_policy: [G, L] the policy after the search, over the legal moves in the rules' order.
    values: [G, 2] value and draw probability.
    policy: [G, A] the policy, by action.
    visits: [G, A] simulations per move, by action.
    """

    actions: NDArray[np.int32]
    legal_policy: NDArray[np.float32]
    values: NDArray[np.float32]
    policy: NDArray[np.float32]
    visits: NDArray[np.int32]
