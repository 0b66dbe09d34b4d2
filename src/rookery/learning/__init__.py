"""Learning from the replay window: the loss, the schedule, and the learner that keeps the nets."""

from rookery.learning.config import LearningConfig
from rookery.learning.device import DeviceLearner
from rookery.learning.group import LOOPBACK, Group, GroupBroken, Place
from rookery.learning.learner import Debt, Learner
from rookery.learning.loss import Losses, Targets, measure_losses
from rookery.learning.part import PartRank
from rookery.learning.rank import RankLearner, Stretch
from rookery.learning.report import (
    LearningDiverged,
    LearnReport,
    LossNumbers,
    RankFigures,
    merge_ranks,
    merge_reports,
)
from rookery.learning.schedule import learning_rate
from rookery.learning.threads import gain_of_threads

__all__ = [
    "LOOPBACK",
    "Debt",
    "DeviceLearner",
    "Group",
    "GroupBroken",
    "LearnReport",
    "Learner",
    "LearningConfig",
    "LearningDiverged",
    "LossNumbers",
    "Losses",
    "PartRank",
    "Place",
    "RankFigures",
    "RankLearner",
    "Stretch",
    "Targets",
    "gain_of_threads",
    "learning_rate",
    "measure_losses",
    "merge_ranks",
    "merge_reports",
]
