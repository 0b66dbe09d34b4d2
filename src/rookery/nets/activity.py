"""How much a net spikes: what an evaluation would cost on hardware that pays by the spike."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from rookery.nets.lif import LeakyFire
from rookery.nets.resnet import fold


@dataclass(frozen=True)
class Spikes:
    """The mean over some boards of what one evaluation sets off."""

    number: float
    """Spikes of all neurons in all steps."""
    chances: int
    """Neurons times steps: the spikes there could be."""

    @property
    def rate(self) -> float:
        """Share of the chances that were spikes, from 0 to 1."""
        return self.number / self.chances


@torch.no_grad()
def count_spikes(net: nn.Module, planes: Tensor) -> Spikes | None:
    """Spikes an evaluation of the boards `planes` [B, P, H, W]; None if `net` has no neurons.

    The net may be an ensemble: its neurons are those of all members.
    """
    number, chances = torch.zeros((), device=planes.device), 0
    folded = fold(net)

    def count(layer: nn.Module, args: object, spikes: Tensor) -> None:
        nonlocal chances
        number.add_(spikes.sum(dtype=torch.float32))
        chances += spikes.numel() // len(planes)

    layers = [module for module in folded.modules() if isinstance(module, LeakyFire)]
    for layer in layers:
        layer.register_forward_hook(count)
    if not layers:
        return None
    folded(planes)
    return Spikes(number.item() / len(planes), chances)
