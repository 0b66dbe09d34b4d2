"""Train Connect Four for two iterations."""

from Coach import Coach
from players import NNet, game

from training import settings

Coach(game, NNet.NNetWrapper(game), settings).learn()
