"""Plot the loss of the run of train.py."""

import matplotlib.pyplot as plt

import rookery as rk

plt.plot(rk.open_run("runs/connect4").stats().to_numpy()["learning.losses.total"])
plt.savefig("loss.png")
