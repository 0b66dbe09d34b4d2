"""Search Nim, whose rules are in nim.py, with 200 simulations and without a network."""

import numpy as np

import rookery as rk


def evaluate(planes):
    return np.zeros((len(planes), 3)), np.full((len(planes), 3), 1 / 3)


print(rk.analyse(rk.Board("nim.py"), evaluate, simulations=200).move)
