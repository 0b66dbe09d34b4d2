"""Search Nim, whose rules are in nim.py, with 200 simulations and without a network."""

import rookery as rk

print(rk.analyse(rk.Board("nim.py"), simulations=200).move)
