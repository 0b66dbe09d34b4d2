"""Train Connect Four for two iterations."""

import rookery as rk

settings = {
    "net.depth": 2,
    "selfplay.games": 8,
    "selfplay.simulations": 32,
    "run.moves": 42,
    "run.strength_every": 0,
}
print(rk.train("connect4", run="runs/connect4", iterations=2, settings=settings))
