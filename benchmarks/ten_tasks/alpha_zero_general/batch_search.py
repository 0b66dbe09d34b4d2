"""Search 64 positions of random games.

Not offered: a search has one position, so they are searched one after the other.
"""

import numpy as np
from players import best_move, game, position

from nets import load_net

rng = np.random.default_rng(1)


def random_position():
    while True:
        columns = []
        for _ in range(rng.integers(1, 30)):
            columns.append(rng.choice(np.flatnonzero(game.getValidMoves(position(columns), 1))))
            if game.getGameEnded(position(columns), 1):
                break
        else:
            return position(columns)


net = load_net()
print([best_move(net, random_position()) for _ in range(64)])
