"""Train Connect Four for two iterations."""

from training import new_run, train

train(new_run(), 2, "run.pickle")
