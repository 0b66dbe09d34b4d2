"""Connect Four and a search with any evaluator, for the other scripts."""

from connect4.Connect4Game import Connect4Game
from MCTS import MCTS
from utils import dotdict

game = Connect4Game()


def best_move(net, board):
    search = MCTS(game, net, dotdict(numMCTSSims=32, cpuct=1))
    return search.getActionProb(board, temp=0).index(1)


def position(columns):
    board, player = game.getInitBoard(), 1
    for column in columns:
        board, player = game.getNextState(board, player, column)
    return game.getCanonicalForm(board, player)
