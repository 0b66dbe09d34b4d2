"""Let two players with the same network play a game: one searches, the other hardly does.

Player 1 uses 12 simulations per move, player 2 only one, which is the first choice of the network.
Prints all moves, the last position and the result.
"""

import rookery as rk

net = rk.load_net("connect4")
simulations = (12, 1)

board = rk.Board("connect4")
while not board.is_over:
    found = rk.analyse(board, net, simulations=simulations[board.turn])
    board.push(found.move)

print("moves:", *board.moves)
print(board)
print({1: "player 1 wins", 0: "a draw", -1: "player 2 wins"}[board.outcome or 0])
