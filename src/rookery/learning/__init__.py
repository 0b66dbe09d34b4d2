"""Learning from the replay window: the loss, the schedule and the learners."""

from rookery.learning.config import LearningConfig
from rookery.learning.ensemble import EnsembleLearner
from rookery.learning.gpu_learner import GpuLearner
from rookery.learning.learner import Learner
from rookery.learning.loss import Losses, LossWeights, Targets, measure_losses, register_loss
from rookery.learning.parallel.group import LOOPBACK, GroupFailed, ProcessGroup, RankSpec
from rookery.learning.parallel.rank import RankLearner, RankResult
from rookery.learning.pipeline.rank import PipelineRank
from rookery.learning.report import (
    LearningDiverged,
    LearnReport,
    LossMeans,
    RankStats,
    merge_ranks,
    merge_reports,
    total_of,
    weighted_losses,
)
from rookery.learning.schedule import learning_rate
from rookery.learning.timing import thread_speedup

__all__ = [
    "LOOPBACK",
    "EnsembleLearner",
    "GpuLearner",
    "GroupFailed",
    "LearnReport",
    "Learner",
    "LearningConfig",
    "LearningDiverged",
    "LossMeans",
    "LossWeights",
    "Losses",
    "PipelineRank",
    "ProcessGroup",
    "RankLearner",
    "RankResult",
    "RankSpec",
    "RankStats",
    "Targets",
    "learning_rate",
    "measure_losses",
    "merge_ranks",
    "merge_reports",
    "register_loss",
    "thread_speedup",
    "total_of",
    "weighted_losses",
]
