"""A part of a pipeline, as torch's schedules run it, and a clock beside it.

Importing this imports half of torch, which only those who use it should wait for.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe


class Stage(PipelineStage):
    """Torch's stage, which knows how long it has computed: the rest of a step is waiting."""

    seconds = 0.0
    """Spent computing so far."""

    def forward_one_chunk(self, *args: Any, **options: Any) -> Any:
        """Carry one part of a batch forward."""
        with self._clock():
            return super().forward_one_chunk(*args, **options)

    def backward_one_chunk(self, *args: Any, **options: Any) -> Any:
        """Carry the gradients of one part back."""
        with self._clock():
            return super().backward_one_chunk(*args, **options)

    @contextmanager
    def _clock(self) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - begin


def new_schedule(
    stage: Stage, parts: int, loss: Callable[[Any, Tensor], Tensor]
) -> Schedule1F1B | ScheduleGPipe:
    """The order in which `parts` of a batch go through the stages.

    One forward, one backward keeps fewer activations; torch has it from a part a stage on.
    """
    kind = Schedule1F1B if parts >= stage.num_stages else ScheduleGPipe
    return kind(stage, parts, loss_fn=loss, scale_grads=False)
