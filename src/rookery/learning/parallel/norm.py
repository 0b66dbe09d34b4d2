"""Batch norm over the rows of all ranks, as if one device held the whole batch.

Torch's SyncBatchNorm runs on GPUs only. This one sums the same statistics per channel over any
backend and leaves the work on rows to torch's kernels.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from rookery.learning.parallel.group import ProcessGroup


class JointBatchNorm(nn.BatchNorm2d):
    """Batch norm whose batch is that of the whole group while training."""

    def __init__(self, alone: nn.BatchNorm2d, group: ProcessGroup) -> None:
        """Share the parameters and statistics of `alone`."""
        super().__init__(alone.num_features, alone.eps, alone.momentum, device="meta")
        self.weight, self.bias = alone.weight, alone.bias
        for name, buffer in alone.named_buffers():
            setattr(self, name, buffer)
        self.train(alone.training)
        self.group = group

    def forward(self, x: Tensor) -> Tensor:
        """Normalise by the statistics of all ranks' rows, and update the running ones."""
        if not self.training or self.group.size == 1:
            return super().forward(x)
        found: tuple[Tensor, ...] = _Normalise.apply(  # type: ignore[no-untyped-call]
            x, self.weight, self.bias, self.eps, self.group
        )
        y, mean, variance, count = found
        self._update_statistics(mean, variance * count / (count - 1))
        return y

    @torch.no_grad()
    def _update_statistics(self, mean: Tensor, variance: Tensor) -> None:
        assert self.running_mean is not None and self.running_var is not None
        assert self.num_batches_tracked is not None and self.momentum is not None
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.lerp_(variance, self.momentum)
        self.num_batches_tracked += 1


def join_norms(net: nn.Module, group: ProcessGroup, *, compiled: bool) -> None:
    """Replace every batch norm of `net` by a joint one, which torch.compile skips."""
    for parent in list(net.modules()):
        for name, child in parent.named_children():
            if isinstance(child, nn.BatchNorm2d):
                norm = JointBatchNorm(child, group)
                if compiled and group.size > 1:
                    norm.forward = torch.compiler.disable(norm.forward)  # type: ignore[method-assign, no-untyped-call]
                setattr(parent, name, norm)


class _Normalise(torch.autograd.Function):
    """Return the normalised rows, and the mean, variance and count of the whole group."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, eps: float, group: ProcessGroup
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        exact = torch.zeros_like(weight)  # makes the statistics float32 for rows of any precision
        mean, variance = exact, exact
        if x.numel():  # a rank may have no row of a batch
            mean, variance = torch.batch_norm_update_stats(x, exact, exact, 0.0)
        variance, mean, count = _joined(variance, mean, x.numel() // x.shape[1], group)
        ctx.save_for_backward(x, weight, mean, variance, count)
        ctx.eps, ctx.group = eps, group
        y = functional.batch_norm(x, mean, variance, weight, bias, False, 0.0, eps)
        ctx.mark_non_differentiable(mean, variance, count)
        return y, mean, variance, count

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, mean, variance, count = ctx.saved_tensors
        scale = torch.rsqrt(variance + ctx.eps)
        direct, for_weight, for_bias = x, torch.zeros_like(weight), torch.zeros_like(weight)
        if x.numel():  # torch divides by the number of rows
            direct, for_weight, for_bias = torch.ops.aten.native_batch_norm_backward(
                gradients[0], x, weight, mean, variance, mean, scale, False, ctx.eps, [True] * 3
            )
        sums = ctx.group.all_reduce(torch.stack([for_bias.float(), for_weight.float()]))
        slope = -weight * scale**2 * sums[1] / count
        offset = -weight * scale * sums[0] / count - slope * mean
        through = torch.addcmul(direct, x, slope.to(x.dtype)[:, None, None])
        through += offset.to(x.dtype)[:, None, None]
        return through, for_weight, for_bias, None, None


def _joined(
    variance: Tensor, mean: Tensor, rows: int, group: ProcessGroup
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the variance, mean and count of all ranks' values."""
    first, second = mean.double() * rows, (variance.double() + mean.double() ** 2) * rows
    ours = torch.cat([first, second, first.new_tensor([rows])])
    first, second, count = torch.split(group.all_reduce(ours), [len(mean), len(mean), 1])
    middle = first / count
    joint = (second / count - middle**2).clamp_(min=0)
    return joint.float(), middle.float(), count.float()
