"""Load a trained network and get a move."""

import rookery as rk

print(rk.analyse(rk.Board("connect4", "4453"), rk.load_net("connect4"), simulations=32).move)
