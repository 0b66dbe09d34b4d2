"""The learning rate: a linear warm-up over updates, then half a cosine over the run."""

from math import cos, pi

from rookery.learning.config import LearningConfig


def learning_rate(progress: float, update: int, *, config: LearningConfig) -> float:
    """Return the rate of update number `update` (from 0), `progress` (0 to 1) through the run."""
    if not 0 <= progress <= 1:
        raise ValueError(f"progress is {progress}, expected 0 (start) to 1 (end of the run)")
    final = config.final_rate
    decayed = final + (1 - final) * (1 + cos(pi * progress)) / 2
    warm = min(1.0, (update + 1) / config.warmup_updates) if config.warmup_updates else 1.0
    return config.learning_rate * decayed * warm
