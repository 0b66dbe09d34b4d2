"""Load a trained network and get a move.

pgx offers trained networks for other games, by a download; this one is from train.py.
"""

import jax
from agent import position, search
from connect_four import env, load_run, net

state = position(env, [3, 3, 4, 2])
print(search(env, net.apply, load_run()[0], jax.random.key(0), state).action)
