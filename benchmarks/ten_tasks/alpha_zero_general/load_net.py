"""Load a trained network and get a move."""

from players import best_move, position

from nets import load_net

print(best_move(load_net(), position([3, 3, 4, 2])))
