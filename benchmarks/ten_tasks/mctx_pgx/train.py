"""Train Connect Four for two iterations."""

from connect_four import env, net

from training import new_run, train

train(env, net, new_run(env, net), 2, "run.pickle")
