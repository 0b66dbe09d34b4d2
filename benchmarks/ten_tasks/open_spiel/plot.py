"""Plot the loss of the run of train.py."""

import json

import matplotlib.pyplot as plt

with open("run/learner.jsonl") as file:
    plt.plot([json.loads(line)["loss"]["sum"] for line in file])
plt.savefig("loss.png")
