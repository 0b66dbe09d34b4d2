"""Othello on six by six cells, as a newcomer writes it: symmetries that change the first position.

A player who cannot move passes, which is an action; cells are written `a1` to `f6`, a pass `--`.
"""

import numpy as np

from rookery.base import IllegalPosition, compiled
from rookery.games import DRAW, LOSS, ONGOING, WIN

NAME = "othello6"
VERSION = 1
STATE = np.dtype([("board", np.int8, 36), ("is_second", np.int8)])  # 1 mover, -1 opponent
NUM_ACTIONS = 37
PASS = 36
MAX_LEGAL = 32
MAX_PLIES = 64
PLANES = (2, 6, 6)

_GRID = np.arange(36).reshape(6, 6)
_VIEWS = [np.rot90(grid, rotations) for grid in (_GRID, _GRID.T) for rotations in range(4)]
SYMMETRIES = tuple((view.ravel(), np.append(view.ravel(), PASS)) for view in _VIEWS)


@compiled
def start(state):
    state.board[:] = 0
    state.is_second = 0
    state.board[14], state.board[15] = -1, 1
    state.board[20], state.board[21] = 1, -1


@compiled
def flips(state, cell, row_step, column_step):
    row, column, count = cell // 6 + row_step, cell % 6 + column_step, 0
    while 0 <= row < 6 and 0 <= column < 6 and state.board[6 * row + column] == -1:
        row, column, count = row + row_step, column + column_step, count + 1
    if 0 <= row < 6 and 0 <= column < 6 and state.board[6 * row + column] == 1:
        return count
    return 0


@compiled
def is_legal(state, cell):
    if state.board[cell] != 0:
        return False
    for direction in range(9):
        if direction != 4 and flips(state, cell, direction // 3 - 1, direction % 3 - 1):
            return True
    return False


@compiled
def can_move(state):
    count = 0
    for cell in range(36):
        count += is_legal(state, cell)
    return count > 0


@compiled
def legal(state, out):
    count = 0
    for cell in range(36):
        if is_legal(state, cell):
            out[count] = cell
            count += 1
    if count == 0:
        out[0] = PASS
        count = 1
    return count


@compiled
def swap(state):
    for cell in range(36):
        state.board[cell] = -state.board[cell]


@compiled
def play(state, action):
    if action != PASS:
        for direction in range(9):
            row_step, column_step = direction // 3 - 1, direction % 3 - 1
            if direction != 4:
                for i in range(flips(state, action, row_step, column_step)):
                    state.board[action + (i + 1) * (6 * row_step + column_step)] = 1
        state.board[action] = 1
    swap(state)
    state.is_second = 1 - state.is_second


@compiled
def outcome(state):
    if can_move(state):
        return ONGOING
    swap(state)
    is_over = not can_move(state)
    swap(state)
    if not is_over:
        return ONGOING
    lead = 0
    for cell in range(36):
        lead += state.board[cell]
    return WIN if lead > 0 else LOSS if lead < 0 else DRAW


@compiled
def planes(state, out):
    for cell in range(36):
        out[0, cell // 6, cell % 6] = state.board[cell] == 1
        out[1, cell // 6, cell % 6] = state.board[cell] == -1


def show(state):
    board = -state.board if state.is_second else state.board
    cells = [".XO"[piece] for piece in board]
    return "\n".join(" ".join(cells[row : row + 6]) for row in range(0, 36, 6))


def write_move(state, action):
    return "--" if action == PASS else "abcdef"[action % 6] + str(action // 6 + 1)


def read_move(state, text):
    out = np.zeros(NUM_ACTIONS, np.int32)
    for action in out[: legal(state, out)]:
        if outcome(state) == ONGOING and write_move(state, action) == text:
            return int(action)
    raise IllegalPosition(f"{text!r} is not a legal move; expected a cell, such as b3, or --")


def read_position(state, text):
    start(state)
    for ply in range(0, len(text), 2):
        play(state, read_move(state, text[ply : ply + 2]))
