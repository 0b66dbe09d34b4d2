"""A small network, for the other scripts.

The network for Connect Four that comes with the library needs an old TensorFlow; the one for
Othello in PyTorch suits every board of at least five by five.
"""

from connect4.Connect4Game import Connect4Game
from othello.pytorch import NNet

NNet.args.update(num_channels=32, epochs=2)
game = Connect4Game()


def load_net():
    net = NNet.NNetWrapper(game)
    net.load_checkpoint("temp", "best.pth.tar")
    return net
