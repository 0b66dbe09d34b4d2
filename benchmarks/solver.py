"""How fast the exact Connect Four solver is: one line a group of the packaged positions.

    python benchmarks/solver.py [positions per group]

Each group starts with an empty table and solves its positions one after another (the score of
the position, not of each move), on one core. Times are of the processor, not of the clock.
"""

import sys
import time

from rookery.arena import Connect4Solver
from rookery.arena.solvers.positions import load_positions
from rookery.games import State, load_game

POSITIONS = 20


def measure(states: list[State]) -> tuple[float, int]:
    """Seconds and nodes that solving `states` takes."""
    solver = Connect4Solver()
    started = time.process_time()
    for state in states:
        solver.score(state)
    return time.process_time() - started, solver.nodes


def main() -> None:
    """Print the lines."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else POSITIONS
    connect4 = load_game("connect4")
    positions = load_positions()
    measure([connect4.position(positions[-1].moves)])  # compiles
    for group in dict.fromkeys(position.group for position in positions):
        moves = [position.moves for position in positions if position.group == group][:count]
        seconds, nodes = measure([connect4.position(text) for text in moves])
        print(
            f"{group:14}{len(moves):5} positions  {1000 * seconds / len(moves):9.3f} ms each  "
            f"{len(moves) / seconds:10.1f} positions/s  {nodes / seconds / 1e6:6.2f} M nodes/s"
        )


if __name__ == "__main__":
    main()
