"""Train the run of train.py for one more iteration."""

from training import load_run, train

train(load_run(), 1, "run.pickle")
