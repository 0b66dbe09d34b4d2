"""Load a trained network and get a move. No network is shipped; this one is from train.py."""

from bots import position
from trained import load_bot

print(load_bot().step(position([3, 3, 4, 2])))
