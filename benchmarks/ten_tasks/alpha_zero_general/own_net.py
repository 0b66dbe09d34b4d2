"""Train a network of one's own: one convolution and two heads."""

import torch
from Coach import Coach
from torch import nn

from nets import NNet, game
from training import settings


class PlainNet(nn.Module):
    def __init__(self, game):
        super().__init__()
        height, width = game.getBoardSize()
        self.body = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Flatten())
        self.policy = nn.Linear(32 * height * width, game.getActionSize())
        self.value = nn.Linear(32 * height * width, 1)

    def forward(self, board):
        x = self.body(board[:, None])
        return self.policy(x).log_softmax(1), torch.tanh(self.value(x))


class PlainWrapper(NNet.NNetWrapper):
    def __init__(self, game):
        super().__init__(game)
        self.nnet = PlainNet(game)


settings.update(checkpoint="plain")
Coach(game, PlainWrapper(game), settings).learn()
