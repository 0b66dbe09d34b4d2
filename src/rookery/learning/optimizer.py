"""Optimizers: AdamW for all weights, or Muon for convolutions and AdamW for the rest.

Their rates are floats, or tensors on the device that a captured graph reads. They do not derive
from `torch.optim.Optimizer`: creating one imports torch's compiler, which takes seconds.
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rookery.learning import state as states

BETAS = (0.9, 0.999)
EPSILON = 1e-8
"""Of AdamW, as in torch."""
MOMENTUM = 0.95
POLYNOMIAL = (3.4445, -4.7750, 2.0315)
"""Singular values s become a s + b s^3 + c s^5. Five times: 0.01 to 1 become 0.68 to 1.13."""
POLYNOMIAL_STEPS = 5
LIKE_ADAMW = 0.2
"""Root mean square of a step at rate 1, about that of AdamW: both can use the same rate."""


class Optimizer(ABC):
    """A rule that changes weights by their gradients."""

    MOMENTS: tuple[str, ...]
    """What it keeps for a weight, from the first gradient on."""

    def __init__(self, weights: Sequence[Tensor], *, weight_decay: float) -> None:
        self.weights, self.weight_decay = weights, weight_decay
        self.state: dict[Tensor, dict[str, Tensor]] = {}
        """The moments of the weights that had a gradient."""

    @torch.no_grad()
    def step(self, rate: float | Tensor) -> None:
        """Change all weights that have gradients."""
        weights = [weight for weight in self.weights if weight.grad is not None]
        for weight in weights:
            if weight not in self.state:
                self.state[weight] = self.new_moments(weight)
        if weights:
            self._change(
                weights, [weight.grad for weight in weights if weight.grad is not None], rate
            )

    def new_moments(self, weight: Tensor) -> dict[str, Tensor]:
        """Return zeros, in the memory format of a weight; the number of steps is one number."""
        counter = torch.zeros((), dtype=torch.float32, device=weight.device)
        return {key: counter if key == "step" else torch.zeros_like(weight) for key in self.MOMENTS}

    @abstractmethod
    def _change(self, weights: list[Tensor], gradients: list[Tensor], rate: float | Tensor) -> None:
        """Change weights that have moments."""


class AdamW(Optimizer):
    """The fused AdamW of torch: one kernel changes many weights."""

    MOMENTS = ("step", "exp_avg", "exp_avg_sq")

    def _change(self, weights: list[Tensor], gradients: list[Tensor], rate: float | Tensor) -> None:
        steps, means, squares = (
            [self.state[weight][key] for weight in weights] for key in self.MOMENTS
        )
        torch._foreach_add_(steps, 1)
        torch._fused_adamw_(
            weights,
            gradients,
            means,
            squares,
            [],
            steps,
            lr=rate,
            beta1=BETAS[0],
            beta2=BETAS[1],
            weight_decay=self.weight_decay,
            eps=EPSILON,
            amsgrad=False,
            maximize=False,
        )


class Muon(Optimizer):
    """Momentum, made an orthogonal matrix: all directions of a weight learn equally fast.

    A convolution is a matrix with one row per output channel. Matrices of one shape are computed
    together. `torch.optim.Muon` takes matrices only, one by one, and reads the rate on the host,
    which a captured graph cannot do.
    """

    MOMENTS = ("momentum",)

    def _change(self, weights: list[Tensor], gradients: list[Tensor], rate: float | Tensor) -> None:
        by_shape = defaultdict(list)
        for weight, gradient in zip(weights, gradients, strict=True):
            by_shape[weight.shape].append((weight, gradient))
        for alike in by_shape.values():
            self._change_alike([weight for weight, _ in alike], [each for _, each in alike], rate)

    def _change_alike(
        self, weights: list[Tensor], gradients: list[Tensor], rate: float | Tensor
    ) -> None:
        """Change weights of one shape."""
        torch._foreach_mul_(weights, 1 - rate * self.weight_decay)
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


class NetOptimizer:
    """The optimizer of a network; biases and the scales of norms do not decay."""

    def __init__(
        self, net: nn.Module, *, name: str, learning_rate: float, weight_decay: float
    ) -> None:
        self._net = net
        self._rate: float | Tensor = learning_rate
        weights = list(net.parameters())
        turned = [weight for weight in weights if name == "muon" and _is_convolution(weight)]
        rest = [weight for weight in weights if weight not in set(turned)]
        self._parts = (
            Muon(turned, weight_decay=weight_decay),
            AdamW([w for w in rest if w.ndim >= 2], weight_decay=weight_decay),
            AdamW([w for w in rest if w.ndim < 2], weight_decay=0.0),
        )
        self._by_weight = {weight: part for part in self._parts for weight in part.weights}

    def set_rate(self, rate: float | Tensor) -> None:
        """Set the learning rate of the next step."""
        self._rate = rate

    def step(self) -> None:
        """Change the weights by their gradients."""
        for part in self._parts:
            part.step(self._rate)

    def tensors(self) -> dict[str, Tensor]:
        """Return the moments and counters as `optimizer.weight.moment`."""
        return {
            f"optimizer.{name}.{key}": tensor
            for name, weight in self._net.named_parameters()
            for key, tensor in self._by_weight[weight].state.get(weight, {}).items()
        }

    def fill(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the arrays of `tensors`; moments get the memory format of their weights.

        A weight without moments begins with none: it was frozen, or had another optimizer.
        """
        for name, weight in self._net.named_parameters():
            part = self._by_weight[weight]
            if f"optimizer.{name}.{part.MOMENTS[0]}" not in arrays:
                continue
            moments = part.new_moments(weight)
            for key, tensor in moments.items():
                states.fill(tensor, f"optimizer.{name}.{key}", arrays)
            part.state[weight] = moments

    def possible_names(self) -> set[str]:
        """Return the names of all tensors that an optimizer of this network may have."""
        keys = [*AdamW.MOMENTS, *Muon.MOMENTS]
        return {
            f"optimizer.{name}.{key}" for name, _ in self._net.named_parameters() for key in keys
        }


def _is_convolution(weight: Tensor) -> bool:
    """Return whether these are the weights of a convolution that sees neighbouring cells."""
    return weight.ndim == 4 and weight[0, 0].numel() > 1
