"""Train the run of train.py for one more iteration."""

from connect_four import env, load_run, net

from training import train

train(env, net, load_run(), 1, "run.pickle")
