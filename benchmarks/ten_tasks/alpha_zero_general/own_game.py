"""Search Nim with 200 simulations and without a network.

Nim: take one, two or three of seven matches; whoever takes the last one wins.
"""

import numpy as np
from Game import Game
from MCTS import MCTS
from utils import dotdict


class Nim(Game):
    def getInitBoard(self):
        return np.ones((1, 7))

    def getBoardSize(self):
        return 1, 7

    def getActionSize(self):
        return 3

    def getNextState(self, board, player, action):
        return (np.arange(7) < board.sum() - action - 1)[None] * 1.0, -player

    def getValidMoves(self, board, player):
        return np.arange(3) < board.sum()

    def getGameEnded(self, board, player):
        return 0 if board.any() else -1

    def getCanonicalForm(self, board, player):
        return board

    def getSymmetries(self, board, pi):
        return [(board, pi)]

    def stringRepresentation(self, board):
        return board.tobytes()


class Uniform:
    def predict(self, board):
        return np.ones(3), 0


game = Nim()
search = MCTS(game, Uniform(), dotdict(numMCTSSims=200, cpuct=1))
print(search.getActionProb(game.getInitBoard(), temp=0).index(1))
