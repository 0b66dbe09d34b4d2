"""Play ten games of the network of train.py against random moves."""

import numpy as np
from bots import position
from open_spiel.python.algorithms import evaluate_bots
from open_spiel.python.bots import uniform_random
from trained import load_bot

bot, results = load_bot(), []
for ours in [0, 1] * 5:
    bots = [uniform_random.UniformRandomBot(1 - ours, np.random)]
    bots.insert(ours, bot)
    results.append(evaluate_bots.evaluate_bots(position([]), bots, np.random)[ours])
print(results.count(1), results.count(0), results.count(-1))
