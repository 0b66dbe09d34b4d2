"""Plot the loss of the run of train.py."""

import matplotlib.pyplot as plt

from training import load_run

plt.plot(load_run()[2])
plt.savefig("loss.png")
