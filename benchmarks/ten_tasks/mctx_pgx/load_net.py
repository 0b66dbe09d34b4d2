"""Load a trained network and get a move.

pgx offers trained networks for other games, by a download; this one is from train.py.
"""

import agent
import jax

from training import load_run

params = load_run()[0]
print(agent.search(params, jax.random.key(0), agent.position([3, 3, 4, 2])).action)
