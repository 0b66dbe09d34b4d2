"""A network small enough for tests of learners."""

import torch
from torch import Tensor, nn

from rookery.games import Game


class TinyNet(nn.Module):
    """A convolution with batch norm and two linear heads."""

    def __init__(self, game: Game, norm: bool = True) -> None:
        super().__init__()
        planes, height, width = game.planes_shape
        self.conv = nn.Conv2d(planes, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16) if norm else nn.Identity()
        self.policy = nn.Linear(16 * height * width, game.num_actions)
        self.wdl = nn.Linear(16 * height * width, 3)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        x = torch.relu(self.norm(self.conv(planes))).flatten(1)
        return self.policy(x), self.wdl(x)
