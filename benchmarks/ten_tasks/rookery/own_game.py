"""Train Nim, whose rules are in nim.py, and get a move."""

import rookery as rk

settings = {"selfplay.games": 8, "run.moves": 12, "run.strength_every": 0, "net.width": 16}
run = rk.train("nim.py", run="runs/nim", iterations=2, settings=settings)
print(rk.analyse(rk.Board("nim.py", "0"), run.net(), simulations=32).move)
