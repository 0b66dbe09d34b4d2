"""How the learning rate and the decay of the averaged weights change during a run."""

from math import cos, pi

from rookery.learning.config import LearningConfig


def ema_decay(update: int, maximum: float) -> float:
    """Return the decay at update number `update` (from 0): smaller at the start of a run."""
    return min(maximum, (1 + update) / (10 + update))


def learning_rate(progress: float, update: int, *, config: LearningConfig) -> float:
    """Return the rate of update number `update` (from 0), `progress` (0 to 1) through the run.

    It is a linear warm-up over updates, then constant, then half a cosine over the last
    `decay_share` of the run.
    """
    if not 0 <= progress <= 1:
        raise ValueError(f"progress is {progress}, expected 0 (start) to 1 (end of the run)")
    final = config.final_rate
    falling = max(0.0, 1 - (1 - progress) / config.decay_share)
    decayed = final + (1 - final) * (1 + cos(pi * falling)) / 2
    warm = min(1.0, (update + 1) / config.warmup_updates) if config.warmup_updates else 1.0
    return config.learning_rate * decayed * warm
