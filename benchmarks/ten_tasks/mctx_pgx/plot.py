"""Plot the loss of the run of train.py, which stores its losses."""

import pickle

import matplotlib.pyplot as plt

with open("run.pickle", "rb") as file:
    plt.plot(pickle.load(file)[2])
plt.savefig("loss.png")
