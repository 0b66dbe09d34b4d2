"""Train Tic-Tac-Toe for a few iterations and plot what the run recorded.

`run.stats()` is a list of dicts, one per iteration; `to_numpy` gives its columns of numbers.
Needs matplotlib. Writes tictactoe.png.
"""

from matplotlib.figure import Figure

import rookery as rk

run = rk.train("tictactoe", iterations=8, settings={"run.strength_every": 0})
columns = run.stats().to_numpy()

figure = Figure(figsize=(9, 3.5), layout="constrained")
left, right = figure.subplots(1, 2)
left.plot(columns["iteration"], columns["learning.losses.policy"], label="policy")
left.plot(columns["iteration"], columns["learning.losses.value"], label="value")
left.set(xlabel="iteration", title="loss")
left.legend()
right.plot(columns["iteration"], columns["selfplay.games"].cumsum())
right.set(xlabel="iteration", title="games of self-play")
figure.savefig("tictactoe.png", dpi=150)

loss = columns["learning.losses.total"][1:]  # the first iteration only plays
print(f"{run}: loss from {loss[0]:.2f} to {loss[-1]:.2f}, plotted in tictactoe.png")
