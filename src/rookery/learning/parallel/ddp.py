"""Gradients of the whole batch, each rank computing those of its own rows.

With all_reduce this is torch's DDP: gradients are sent in buckets during the backward pass. The
other methods exchange one vector after it. In both cases ranks are weighted by their number of
rows and batch norm sees the whole batch, so that the gradients are those of a single device.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from inspect import signature
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.distributed import GradBucket  # type: ignore[attr-defined]
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook
from torch.futures import Future
from torch.nn.parallel import DistributedDataParallel

from rookery.learning.config import LearningConfig
from rookery.learning.gradients import RankGradients
from rookery.learning.loss import Losses
from rookery.learning.parallel.exchange import HALVES, Exchange, TopK, decoded_sum
from rookery.learning.parallel.group import FlatTensors, GroupFailed, ProcessGroup
from rookery.learning.parallel.norm import join_norms
from rookery.replay import Batch

Hook = Callable[[Any, GradBucket], Future[Tensor]]
WHOLE_UPDATES = 2
"""Updates sent uncompressed: torch reorders the buckets after the first one."""
_names = signature(DistributedDataParallel).parameters
NO_BUFFERS: dict[str, Any] = {
    "forward_sync_buffers" if "forward_sync_buffers" in _names else "broadcast_buffers": False
}
"""`JointBatchNorm` keeps buffers equal; the option has another name in newer torch."""
ONE_BUCKET_MB = 1_000_000


class DdpGradients(RankGradients):
    """Gradients summed by DDP, in buckets, during the backward pass."""

    def __init__(
        self, net: nn.Module, *, group: ProcessGroup, config: LearningConfig, precision: str
    ) -> None:
        join_norms(net, group, compiled=config.compiled)
        super().__init__(net, group=group, config=config, precision=precision)
        self._last_bucket = 0.0
        with group.waiting():
            self._forward = self._ddp(self._forward, config)

    def gradients(self, batch: Batch) -> Losses:
        """Set the gradients to those of the whole batch's mean loss; return this rank's means."""
        self._last_bucket = time.perf_counter()
        try:
            return self._weighted(batch, len(batch) / self._batch_size * self._group.size)
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            raise GroupFailed(str(error).splitlines()[0]) from error
        finally:
            self._group.traffic.blocked += time.perf_counter() - self._last_bucket

    def close(self) -> None:
        """Free the DDP. Its hooks in the network would fail later if a backward pass was broken."""
        self._forward = self.net

    def _part_context(self, is_last: bool) -> AbstractContextManager[Any]:
        return nullcontext() if is_last else self._forward.no_sync()

    def _ddp(self, net: nn.Module, config: LearningConfig) -> DistributedDataParallel:
        is_powersgd, ratio = config.compress == "powersgd", config.compression_ratio
        ddp = DistributedDataParallel(
            net, bucket_cap_mb=ONE_BUCKET_MB if is_powersgd else None, **NO_BUFFERS
        )
        state = _powersgd_state(net, ratio) if is_powersgd else None
        hooks: dict[str, Hook] = {
            "powersgd": _powersgd_hook(self._group),
            "topk": _TopKHook(self._group, ratio),
        }
        dtype = HALVES.get(config.compress, torch.float32)
        hook = hooks.get(config.compress, _sum_hook(self._group, dtype))
        ddp.register_comm_hook(state, self._timed(hook))
        return ddp

    def _timed(self, hook: Hook) -> Hook:
        def timed(state: Any, bucket: GradBucket) -> Future[Tensor]:
            self._last_bucket = time.perf_counter()
            return hook(state, bucket)

        return timed


class ExchangedGradients(RankGradients):
    """Gradients exchanged as one vector after the backward pass."""

    def __init__(
        self, net: nn.Module, *, group: ProcessGroup, config: LearningConfig, precision: str
    ) -> None:
        join_norms(net, group, compiled=config.compiled)
        super().__init__(net, group=group, config=config, precision=precision)
        self._exchange = Exchange(group, config)
        self.steps = not self._exchange.is_served

    def gradients(self, batch: Batch) -> Losses:
        """Set the gradients to those of the whole batch's mean loss; return this rank's means."""
        losses = self._weighted(batch, len(batch) / self._batch_size)
        if self._group.size > 1:
            vector = FlatTensors([_gradient(weight) for weight in _learning(self.net)])
            vector.write(self._exchange.sum(vector.read()))
        return losses

    def settle(self, update: int, *, is_last: bool) -> None:
        """With a parameter server, fetch the weights after its step."""
        if self._exchange.has_server:
            weights = FlatTensors(self.net.parameters())
            weights.write(self._group.broadcast(weights.read()))


def _learning(net: nn.Module) -> list[Tensor]:
    """Return the weights that are not frozen."""
    return [weight for weight in net.parameters() if weight.requires_grad]


def _gradient(weight: Tensor) -> Tensor:
    assert weight.grad is not None
    return weight.grad


def _powersgd_state(net: nn.Module, ratio: float) -> powerSGD_hook.PowerSGDState:
    """Return PowerSGD of the rank at which the largest kernel takes `ratio` of its bytes."""
    largest = max(_learning(net), key=Tensor.numel)
    rows, columns = len(largest), largest.numel() // len(largest)
    rank = max(1, int(ratio * rows * columns / (rows + columns)))
    return powerSGD_hook.PowerSGDState(
        process_group=None,
        matrix_approximation_rank=rank,
        start_powerSGD_iter=WHOLE_UPDATES,
        min_compression_rate=1.0,
    )


def _sum_hook(group: ProcessGroup, dtype: torch.dtype) -> Hook:
    """Return a hook that sums in `dtype`; torch's own for bfloat16 requires NCCL."""

    def hook(state: Any, bucket: GradBucket) -> Future[Tensor]:
        vector = bucket.buffer()
        sent = vector.div_(group.size).to(dtype)
        group.count_sum(sent.nbytes)
        work = distributed.all_reduce(sent, async_op=True)
        mean: Future[Tensor] = work.get_future().then(lambda done: vector.copy_(sent))
        return mean

    return hook


def _powersgd_hook(group: ProcessGroup) -> Hook:
    """Return torch's hook with the bytes of what it sends counted."""

    def hook(state: powerSGD_hook.PowerSGDState, bucket: GradBucket) -> Future[Tensor]:
        before, vector = state.total_numel_after_compression, bucket.buffer()
        mean: Future[Tensor] = powerSGD_hook.powerSGD_hook(state, bucket)
        elements = state.total_numel_after_compression - before or vector.numel()
        group.count_sum(elements * vector.element_size())
        return mean

    return hook


class _TopKHook:
    """A hook that sends the largest elements of every bucket, with error feedback."""

    def __init__(self, group: ProcessGroup, ratio: float) -> None:
        self._group, self._ratio = group, ratio
        self._whole = _sum_hook(group, torch.float32)
        self._codecs: dict[int, TopK] = {}
        self._calls = 0

    def __call__(self, state: Any, bucket: GradBucket) -> Future[Tensor]:
        vector, size = bucket.buffer(), self._group.size
        self._calls += bucket.is_last()
        if self._calls <= WHOLE_UPDATES:
            return self._whole(state, bucket)
        codec = self._codecs.setdefault(bucket.index(), TopK(self._ratio))
        sent = codec.encode(vector / size)
        self._group.count_all_gather(sent.nbytes)
        found = [torch.empty_like(sent) for _ in range(size)]
        work = distributed.all_gather(found, sent, async_op=True)
        total: Future[Tensor] = work.get_future().then(
            lambda done: vector.copy_(decoded_sum(codec, found, len(vector)))
        )
        return total
