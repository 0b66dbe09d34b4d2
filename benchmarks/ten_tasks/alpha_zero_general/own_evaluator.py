"""Search with a function instead of a network: it prefers columns in the middle."""

import numpy as np
from players import best_move, position


class Evaluator:
    def predict(self, board):
        return np.exp([0, 1, 2, 3, 2, 1, 0]), 0


print(best_move(Evaluator(), position([3, 3, 4, 2])))
