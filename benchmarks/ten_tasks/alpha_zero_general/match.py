"""Play ten games of the network of train.py against random moves."""

from Arena import Arena
from connect4.Connect4Players import RandomPlayer
from players import best_move, game

from nets import load_net

net = load_net()
arena = Arena(lambda board: best_move(net, board), RandomPlayer(game).play, game)
print(arena.playGames(10))
