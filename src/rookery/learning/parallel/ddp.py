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
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.futures import Future
from torch.nn.parallel import DistributedDataParallel

from rookery.learning.config import LearningConfig
from rookery.learning.gradients import RankGradients
from rookery.learning.loss import Losses
from rookery.learning.parallel.exchange import Exchange, TopK, decoded_sum
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
        self._last_bucket, self._sent_share = 0.0, _sent_share(config)
        with group.waiting():
            self._forward = self._ddp(self._forward, config)

    def gradients(self, batch: Batch) -> Losses:
        """Set the gradients to those of the whole batch's mean loss; return this rank's means."""
        self._last_bucket = time.perf_counter()
        try:
            return self._weighted(batch, self.share * self._group.size)
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            raise GroupFailed(str(error).splitlines()[0]) from error
        finally:
            self._group.traffic.blocked += time.perf_counter() - self._last_bucket

    def _part_context(self, is_last: bool) -> AbstractContextManager[Any]:
        return nullcontext() if is_last else self._forward.no_sync()

    def _ddp(self, net: nn.Module, config: LearningConfig) -> DistributedDataParallel:
        is_powersgd, ratio = config.compress == "powersgd", config.compression_ratio
        ddp = DistributedDataParallel(
            net, bucket_cap_mb=ONE_BUCKET_MB if is_powersgd else None, **NO_BUFFERS
        )
        state = _powersgd_state(net, ratio) if is_powersgd else None
        hooks: dict[str, Hook] = {
            "none": default_hooks.allreduce_hook,
            "fp16": default_hooks.fp16_compress_hook,
            "bf16": _bf16_hook,
            "powersgd": powerSGD_hook.powerSGD_hook,
            "topk": _TopKHook(ratio),
        }
        ddp.register_comm_hook(state, self._counted(hooks[config.compress]))
        return ddp

    def _counted(self, hook: Hook) -> Hook:
        def counted(state: Any, bucket: GradBucket) -> Future[Tensor]:
            self._last_bucket = time.perf_counter()
            self._group.traffic.sent += int(bucket.buffer().nbytes * self._sent_share)
            return hook(state, bucket)

        return counted


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
        losses = self._weighted(batch, self.share)
        vector = FlatTensors([_gradient(weight) for weight in _learning(self.net)])
        vector.write(self._exchange.sum(vector.read()))
        return losses

    def settle(self, update: int, *, is_last: bool) -> None:
        """With a parameter server, fetch the weights after its step."""
        if self._exchange.has_server:
            weights = FlatTensors(self.net.parameters())
            weights.write(self._group.broadcast(weights.read()))


def _sent_share(config: LearningConfig) -> float:
    """Return the bytes sent, as a share of the gradients' bytes."""
    ratio = config.compression_ratio
    shares = {"none": 1.0, "fp16": 0.5, "bf16": 0.5, "powersgd": ratio, "topk": 2 * ratio}
    return shares[config.compress]


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


def _bf16_hook(state: Any, bucket: GradBucket) -> Future[Tensor]:
    """Sum in bfloat16: torch's own hook requires NCCL, though gloo adds bfloat16 too."""
    vector = bucket.buffer()
    sent = (vector / distributed.get_world_size()).bfloat16()
    work = distributed.all_reduce(sent, async_op=True)
    rounded: Future[Tensor] = work.get_future().then(lambda done: vector.copy_(sent))
    return rounded


class _TopKHook:
    """A hook that sends the largest elements of every bucket, with error feedback."""

    def __init__(self, ratio: float) -> None:
        self._ratio = ratio
        self._codecs: dict[int, TopK] = {}
        self._calls = 0

    def __call__(self, state: Any, bucket: GradBucket) -> Future[Tensor]:
        vector, size = bucket.buffer(), distributed.get_world_size()
        self._calls += bucket.is_last()
        if self._calls <= WHOLE_UPDATES:
            return default_hooks.allreduce_hook(state, bucket)
        codec = self._codecs.setdefault(bucket.index(), TopK(self._ratio))
        sent = codec.encode(vector / size)
        found = [torch.empty_like(sent) for _ in range(size)]
        work = distributed.all_gather(found, sent, async_op=True)
        total: Future[Tensor] = work.get_future().then(
            lambda done: vector.copy_(decoded_sum(codec, found, len(vector)))
        )
        return total
