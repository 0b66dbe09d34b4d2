"""Search with a function instead of a network: it prefers columns in the middle."""

import numpy as np

import rookery as rk


def evaluate(planes):
    logits = np.tile(np.array([0, 1, 2, 3, 2, 1, 0], np.float32), (len(planes), 1))
    return logits, np.full((len(planes), 3), 1 / 3, np.float32)


print(rk.analyse(rk.Board("connect4", "4453"), evaluate, simulations=32).move)
