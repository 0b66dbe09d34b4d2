"""Ask the bundled Connect Four network for its opinion of a position.

A position is its moves: columns from 1 to 7, both players in turn. All values are for the player
to move. Prints the board, the best move and the three most likely moves.
"""

import rookery as rk

board = rk.Board("connect4", "4453")
net = rk.load_net("connect4")
found = rk.analyse(board, net, simulations=32)

print(board)
print(f"player {board.turn + 1} plays {found.move}, value {found.value:+.2f}")
print("win {:.0%}, draw {:.0%}, loss {:.0%}".format(*found.wdl))
for line in found.lines[:3]:
    print(f"move {line.move}: probability {line.policy:.0%}, {line.visits} visits")
