"""Search with a function of your own instead of a network.

An evaluator takes planes [B, P, H, W], as the player to move sees them, and returns policy logits
[B, A] and probabilities of win, draw and loss [B, 3]. In Connect Four, plane 0 has the own stones
and plane 1 those of the opponent. This evaluator likes stones in the middle.
"""

import numpy as np
from numpy.typing import NDArray

import rookery as rk

Floats = NDArray[np.float32]
CENTRE = np.array([0, 1, 2, 3, 2, 1, 0], np.float32)


def evaluate(planes: Floats) -> tuple[Floats, Floats]:
    """Prefer columns in the middle, and positions with more stones there."""
    lead = ((planes[:, 0] - planes[:, 1]) * CENTRE).sum(axis=(1, 2))
    win = 1 / (1 + np.exp(-lead / 4))
    logits = np.tile(CENTRE, (len(planes), 1))
    return logits, np.stack([win, np.zeros_like(win), 1 - win], axis=1)


board = rk.Board("connect4")
while not board.is_over:
    simulations = 200 if board.turn == 0 else 8
    board.push(rk.analyse(board, evaluate, simulations=simulations).move)

print(board)
print("result for the player with 200 simulations:", board.outcome)
