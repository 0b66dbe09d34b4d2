"""Learning from the replay window: the loss, the schedule, and the learner that keeps the nets."""

from rookery.learning.config import LearningConfig
from rookery.learning.device import DeviceLearner
from rookery.learning.learner import (
    Learner,
    LearningDiverged,
    LearnReport,
    LossNumbers,
    merge_reports,
)
from rookery.learning.loss import Losses, Targets, measure_losses
from rookery.learning.schedule import learning_rate

__all__ = [
    "DeviceLearner",
    "LearnReport",
    "Learner",
    "LearningConfig",
    "LearningDiverged",
    "LossNumbers",
    "Losses",
    "Targets",
    "learning_rate",
    "measure_losses",
    "merge_reports",
]
