"""Connect Four. Columns are numbered from 1 at the left, actions from 0. A position is written as
its moves, such as `4453`.

Each column has seven bits. The top bit is always empty, so that lines do not wrap into the next
column:

    5 12 19 26 33 40 47
    4 11 18 25 32 39 46
    .  .  .  .  .  .  .
    0  7 14 21 28 35 42
"""

import numpy as np

from rookery.base import IllegalPosition, compiled
from rookery.games.game import DRAW, LOSS, ONGOING, State

NAME = "connect4"
VERSION = 1
STATE = np.dtype([("mover", np.uint64), ("stones", np.uint64)])  # of the player to move; of both
NUM_ACTIONS = MAX_LEGAL = 7
MAX_PLIES = 42
PLANES = (2, 6, 7)

_GRID = np.arange(42).reshape(6, 7)
SYMMETRIES = ((_GRID.ravel(), range(7)), (_GRID[:, ::-1].ravel(), range(6, -1, -1)))

U1 = np.uint64(1)
BOTTOM = np.array([1 << 7 * column for column in range(7)], np.uint64)
TOP = np.array([1 << 7 * column + 5 for column in range(7)], np.uint64)
FULL = np.uint64(sum(0b111111 << 7 * column for column in range(7)))
DIRECTIONS = np.array([1, 6, 7, 8], np.uint64)  # vertical, falling, horizontal, rising


@compiled
def start(state):
    state.mover = state.stones = np.uint64(0)


@compiled
def legal(state, out):
    count = 0
    for column in range(7):
        if not state.stones & TOP[column]:
            out[count] = column
            count += 1
    return count


@compiled
def play(state, action):
    state.mover ^= state.stones
    state.stones |= state.stones + BOTTOM[action]


@compiled
def has_four(stones):
    for step in DIRECTIONS:
        pairs = stones & stones >> step
        if pairs & pairs >> (step + step):
            return True
    return False


@compiled
def outcome(state):
    if has_four(state.mover ^ state.stones):
        return LOSS
    return DRAW if state.stones == FULL else ONGOING


@compiled
def planes(state, out):
    opponent = state.mover ^ state.stones
    for column in range(7):
        for row in range(6):
            bit = np.uint64(7 * column + row)
            out[0, 5 - row, column] = state.mover >> bit & U1
            out[1, 5 - row, column] = opponent >> bit & U1


def show(state: State) -> str:
    mover, stones = int(state.mover), int(state.stones)
    x = mover if stones.bit_count() % 2 == 0 else mover ^ stones
    cells = [["." for _ in range(7)] for _ in range(6)]
    for bit in (bit for bit in range(49) if stones >> bit & 1):
        cells[5 - bit % 7][bit // 7] = "X" if x >> bit & 1 else "O"
    return "\n".join(" ".join(row) for row in [*cells, list("1234567")])


def read_move(state: State, text: str) -> int:
    if len(text) != 1 or text not in "1234567":
        raise IllegalPosition(f"expected a column from 1 to 7, got {text!r}")
    if state.stones & TOP[int(text) - 1] or outcome(state) != ONGOING:
        raise IllegalPosition(f"column {text} is full, or the game is over")
    return int(text) - 1


def write_move(state: State, action: int) -> str:
    return str(action + 1)
