"""Tic-Tac-Toe. Cells are numbered from 1, actions from 0:

    1 2 3
    4 5 6
    7 8 9

A position is written as its moves, such as `5193`.
"""

import numpy as np

from rookery.base import IllegalPosition, compiled
from rookery.games.game import DRAW, LOSS, ONGOING, State

NAME = "tictactoe"
VERSION = 1
STATE = np.dtype([("mover", np.uint16), ("opponent", np.uint16)])  # bitboards of cells
NUM_ACTIONS = 9
MAX_LEGAL = 9
MAX_PLIES = 9
PLANES = (2, 3, 3)

_GRID = np.arange(9).reshape(3, 3)
_VIEWS = [np.rot90(grid, rotations) for grid in (_GRID, _GRID.T) for rotations in range(4)]
SYMMETRIES = tuple((view.ravel(), view.ravel()) for view in _VIEWS)
LINES = np.array([0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124])
FULL = 0o777


@compiled
def start(state):
    state.mover = 0
    state.opponent = 0


@compiled
def legal(state, out):
    taken = state.mover | state.opponent
    count = 0
    for cell in range(9):
        if not taken >> cell & 1:
            out[count] = cell
            count += 1
    return count


@compiled
def play(state, action):
    moved = state.mover | 1 << action
    state.mover = state.opponent
    state.opponent = moved


@compiled
def outcome(state):
    for line in LINES:
        if state.opponent & line == line:
            return LOSS
    return DRAW if state.mover | state.opponent == FULL else ONGOING


@compiled
def planes(state, out):
    for cell in range(9):
        out[0, cell // 3, cell % 3] = state.mover >> cell & 1
        out[1, cell // 3, cell % 3] = state.opponent >> cell & 1


def show(state: State) -> str:
    x, o = int(state.mover), int(state.opponent)
    if x.bit_count() != o.bit_count():
        x, o = o, x
    cells = ["X" if x >> c & 1 else "O" if o >> c & 1 else str(c + 1) for c in range(9)]
    return "\n".join(" ".join(cells[row : row + 3]) for row in (0, 3, 6))


def read_move(state: State, text: str) -> int:
    taken = int(state.mover | state.opponent)
    if len(text) != 1 or text not in "123456789":
        raise IllegalPosition(f"expected a cell from 1 to 9, got {text!r}")
    if taken >> int(text) - 1 & 1 or outcome(state) != ONGOING:
        raise IllegalPosition(f"cell {text} is taken, or the game is over")
    return int(text) - 1


def write_move(state: State, action: int) -> str:
    return str(action + 1)
