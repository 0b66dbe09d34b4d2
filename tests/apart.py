"""How far two learners are from each other."""

import numpy as np

from rank_processes import new_learner
from rookery.learning import Learner, LearningConfig


def apart(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> float:
    """Their distance, in units of the way that the first has come."""
    start = new_learner(Learner, LearningConfig(precision="float32")).state()
    names = [name for name in one if name.startswith(("net.", "play."))]
    assert names and one.keys() == other.keys()
    gap = sum(float(((one[n].astype(float) - other[n]) ** 2).sum()) for n in names)
    way = sum(float(((one[n].astype(float) - start[n]) ** 2).sum()) for n in names)
    return float((gap / way) ** 0.5)
