"""A stage of torch's pipeline schedules that measures its computing time.

The import is slow, so that it is made only where a pipeline is used.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch.distributed.pipelining import PipelineStage


class Stage(PipelineStage):
    """Torch's stage with its computing time; the rest of a step is waiting."""

    seconds = 0.0
    """Seconds spent computing so far."""

    def forward_one_chunk(self, *args: Any, **options: Any) -> Any:
        """Compute one part of a batch forward."""
        with self._clock():
            return super().forward_one_chunk(*args, **options)

    def backward_one_chunk(self, *args: Any, **options: Any) -> Any:
        """Compute the gradients of one part."""
        with self._clock():
            return super().backward_one_chunk(*args, **options)

    @contextmanager
    def _clock(self) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - begin
