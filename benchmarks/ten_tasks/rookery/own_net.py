"""Train a network of one's own: one convolution and two heads."""

from torch import nn

import rookery as rk


@rk.register_net("plain")
class PlainNet(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        planes, height, width = sizes.planes_shape
        self.body = nn.Sequential(nn.Conv2d(planes, 32, 3, padding=1), nn.ReLU(), nn.Flatten())
        self.policy = nn.Linear(32 * height * width, sizes.num_actions)
        self.wdl = nn.Linear(32 * height * width, 3)

    def forward(self, planes):
        x = self.body(planes)
        return self.policy(x), self.wdl(x)


settings = {
    "net.kind": "plain",
    "selfplay.games": 8,
    "selfplay.simulations": 32,
    "run.moves": 42,
    "run.strength_every": 0,
}
print(rk.train("connect4", run="runs/plain", iterations=2, settings=settings))
