"""Load a trained network and get a move."""

from players import best_move, load_net, position

print(best_move(load_net(), position([3, 3, 4, 2])))
