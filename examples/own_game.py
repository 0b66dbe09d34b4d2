"""Train a game of your own: Nim, whose rules are in nim.py next to this file.

Whoever leaves a multiple of four matches wins. A short training finds this out.
"""

from pathlib import Path

import rookery as rk

RULES = str(Path(__file__).with_name("nim.py"))
SETTINGS = {
    "run.strength_every": 0,
    "net.width": 16,
    "net.depth": 1,
    "learning.batch_size": 32,
    "learning.learning_rate": 5e-3,
    "learning.warmup_updates": 20,
}

run = rk.train(RULES, iterations=8, settings=SETTINGS)
net = run.net()

for moves in ("1", "12", "1213"):
    board = rk.Board(net.game, moves)
    found = rk.analyse(board, net, simulations=32)
    print(f"{board}  take {found.move}, value {found.value:+.2f}")
