"""Train Connect Four for two iterations."""

from Coach import Coach

from nets import NNet, game
from training import settings

Coach(game, NNet.NNetWrapper(game), settings).learn()
