"""Play ten games of the network of train.py against random moves."""

import rookery as rk

print(rk.match("runs/connect4", "random", games=10, simulations=32).total)
