"""Optimizers: AdamW for all weights, or Muon for convolutions and AdamW for the rest.

Their rates are floats, or tensors on the device that a captured graph reads.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rookery.learning import state as states

MOMENTUM = 0.95
POLYNOMIAL = (3.4445, -4.7750, 2.0315)
"""Singular values s become a s + b s^3 + c s^5. Five times: 0.01 to 1 become 0.68 to 1.13."""
POLYNOMIAL_STEPS = 5
LIKE_ADAMW = 0.2
"""Root mean square of a step at rate 1, about that of AdamW: both can use the same rate."""


class Muon(torch.optim.Optimizer):
    """Momentum, made an orthogonal matrix: all directions of a weight learn equally fast.

    A convolution is a matrix with one row per output channel. Matrices of one shape are computed
    together. `torch.optim.Muon` takes matrices only, one by one, and reads the rate on the host,
    which a captured graph cannot do.
    """

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]  # no closures here
        """Change all weights that have gradients."""
        for group in self.param_groups:
            by_shape = defaultdict(list)
            for weight in group["params"]:
                if weight.grad is not None:
                    by_shape[weight.shape].append(weight)
            for weights in by_shape.values():
                torch._foreach_mul_(weights, 1 - group["lr"] * group["weight_decay"])
                self._step(weights, group["lr"])

    def _step(self, weights: list[Tensor], rate: float | Tensor) -> None:
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        for weight in weights:
            if not self.state[weight]:
                self.state[weight]["momentum"] = torch.zeros_like(weight)
        momenta = [self.state[weight]["momentum"] for weight in weights]
        torch._foreach_lerp_(momenta, gradients, 1 - MOMENTUM)
        ahead = torch._foreach_lerp(gradients, momenta, MOMENTUM)  # as Nesterov
        matrices = torch.stack([tensor.movedim(1, -1).flatten(1) for tensor in ahead])
        steps = orthogonal(matrices).to(weights[0].dtype)
        steps *= -rate * LIKE_ADAMW * max(matrices.shape[1:]) ** 0.5
        rows, channels, *kernel = weights[0].shape
        steps = steps.view(-1, rows, *kernel, channels).movedim(-1, 2)
        torch._foreach_add_(weights, list(steps.unbind()))


def orthogonal(matrices: Tensor) -> Tensor:
    """Return [N, R, C] with singular values near 1, by a polynomial of Newton and Schulz."""
    if matrices.shape[1] > matrices.shape[2]:
        return orthogonal(matrices.mT).mT
    a, b, c = POLYNOMIAL
    x = matrices.bfloat16() if matrices.is_cuda else matrices.float()
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(POLYNOMIAL_STEPS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x


MOMENTS: dict[type[torch.optim.Optimizer], tuple[str, ...]] = {
    torch.optim.AdamW: ("step", "exp_avg", "exp_avg_sq"),
    Muon: ("momentum",),
}
"""What an optimizer keeps for a weight."""


class NetOptimizer:
    """The optimizer of a network; biases and the scales of norms do not decay."""

    def __init__(
        self, net: nn.Module, *, name: str, learning_rate: float, weight_decay: float
    ) -> None:
        self._net = net
        weights = list(net.parameters())
        turned = [weight for weight in weights if name == "muon" and _is_convolution(weight)]
        rest = [weight for weight in weights if weight not in set(turned)]
        groups = [
            {"params": [w for w in rest if w.ndim >= 2], "weight_decay": weight_decay},
            {"params": [w for w in rest if w.ndim < 2], "weight_decay": 0.0},
        ]
        adamw = torch.optim.AdamW(
            groups, lr=learning_rate, fused=True, capturable=weights[0].is_cuda
        )
        self._parts: list[torch.optim.Optimizer] = [adamw]
        if turned:
            self._parts.append(Muon(turned, {"lr": learning_rate, "weight_decay": weight_decay}))
        self._by_weight = {
            weight: part
            for part in self._parts
            for group in part.param_groups
            for weight in group["params"]
        }

    def set_rate(self, rate: float | Tensor) -> None:
        """Set the learning rate of the next step."""
        for part in self._parts:
            for group in part.param_groups:
                group["lr"] = rate

    def step(self) -> None:
        """Change the weights by their gradients."""
        for part in self._parts:
            part.step()

    def tensors(self) -> dict[str, Tensor]:
        """Return the moments and counters as `optimizer.weight.moment`."""
        return {
            f"optimizer.{name}.{key}": tensor
            for name, weight in self._net.named_parameters()
            for key, tensor in self._by_weight[weight].state[weight].items()
        }

    def fill(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the arrays of `tensors`; moments get the memory format of their weights.

        A weight without moments begins with none: it was frozen, or had another optimizer.
        """
        for name, weight in self._net.named_parameters():
            part = self._by_weight[weight]
            first, *others = MOMENTS[type(part)]
            if f"optimizer.{name}.{first}" not in arrays:
                continue
            slots = {key: torch.empty_like(weight).detach() for key in (first, *others)}
            if "step" in slots:
                slots["step"] = torch.zeros((), dtype=torch.float32, device=weight.device)
            for key, tensor in slots.items():
                states.fill(tensor, f"optimizer.{name}.{key}", arrays)
            part.state[weight] = slots

    def possible_names(self) -> set[str]:
        """Return the names of all tensors that an optimizer of this network may have."""
        keys = [key for moments in MOMENTS.values() for key in moments]
        return {
            f"optimizer.{name}.{key}" for name, _ in self._net.named_parameters() for key in keys
        }


def _is_convolution(weight: Tensor) -> bool:
    """Return whether these are the weights of a convolution that sees neighbouring cells."""
    return weight.ndim == 4 and weight[0, 0].numel() > 1
