"""Evaluators that need no net, row by row: a batch gives the same bits as its rows alone."""

import numpy as np
from numpy.typing import NDArray

from rookery.search import Evaluator

Array = NDArray[np.float32]


def uniform(num_actions: int) -> Evaluator:
    """Knows nothing: every move alike, every position even."""

    def evaluate(planes: Array) -> tuple[Array, Array]:
        count = len(planes)
        return np.zeros((count, num_actions), np.float32), np.full((count, 3), 1 / 3, np.float32)

    return evaluate


def hashed(num_actions: int) -> Evaluator:
    """Opinions that look random but follow from the planes alone."""

    def evaluate(planes: Array) -> tuple[Array, Array]:
        cells = planes.reshape(len(planes), -1).astype(np.int64)
        mixed = (cells * (7919 * np.arange(1, cells.shape[1] + 1) ** 2)).sum(1)
        seeds = mixed[:, None] * 104729 + 1299709 * np.arange(num_actions + 2)
        noise = ((seeds * 2654435761 >> 7) % 1009 / 1009).astype(np.float32)
        wins, losses = noise[:, -2], noise[:, -1]
        wdl = np.stack([wins, np.full_like(wins, 0.3), losses], 1)
        return 3 * noise[:, :-2], wdl / wdl.sum(1, keepdims=True)

    return evaluate
