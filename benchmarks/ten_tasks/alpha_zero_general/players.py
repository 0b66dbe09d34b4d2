"""The game, a small network and its search, for the other scripts.

The network for Connect Four that comes with the library needs an old TensorFlow; the one for
Othello in PyTorch suits every board of at least five by five.
"""

from connect4.Connect4Game import Connect4Game
from MCTS import MCTS
from othello.pytorch import NNet
from utils import dotdict

NNet.args.update(num_channels=32, epochs=2)
game = Connect4Game()


def load_net():
    net = NNet.NNetWrapper(game)
    net.load_checkpoint("temp", "best.pth.tar")
    return net


def best_move(net, board):
    search = MCTS(game, net, dotdict(numMCTSSims=32, cpuct=1))
    return search.getActionProb(board, temp=0).index(1)


def position(columns):
    board, player = game.getInitBoard(), 1
    for column in columns:
        board, player = game.getNextState(board, player, column)
    return game.getCanonicalForm(board, player)
