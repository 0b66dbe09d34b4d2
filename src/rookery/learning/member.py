"""Gradients computed by a member of a group: what the ways to learn together share."""

from torch import nn

from rookery.learning.config import LearningConfig
from rookery.learning.gradients import GradientComputer
from rookery.learning.parallel.group import ProcessGroup


class Member(GradientComputer):
    """Computes gradients of its own rows; what becomes of them is up to its kind."""

    def __init__(
        self, net: nn.Module, *, group: ProcessGroup, config: LearningConfig, precision: str
    ) -> None:
        super().__init__(
            net,
            accumulate=config.accumulate,
            value_weight=config.value_weight,
            precision=precision,
            compiled=config.compiled,
        )
        self._group = group
