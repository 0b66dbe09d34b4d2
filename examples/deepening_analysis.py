"""Search one position deeper and deeper, and stop after a few seconds.

An `Analysis` goes on while it is iterated. Each step has the best lines so far. The search ends by
itself when the result is proved.
"""

import rookery as rk

SECONDS = 3.0

board = rk.Board("connect4", "17")
net = rk.load_net("connect4")
shown = 0
with rk.Analysis(board, net, lines=2) as analysis:
    for info in analysis:
        if info.nodes >= 2 * shown:
            best, shown = info.lines[0], info.nodes
            print(f"{info.nodes:5} nodes  {best.value:+.2f}  {' '.join(best.variation)}")
        if info.seconds > SECONDS:
            break

print(board)
for line in info.lines:
    print(f"move {line.move}: value {line.value:+.2f}, {line.visits} visits")
