"""A game of many moves, for tests: players take cells in turn; cell 148 of 150 wins."""

import numpy as np

from rookery.base import IllegalPosition, compiled
from rookery.games import LOSS, ONGOING

NAME = "wide"
VERSION = 1
CELLS = 150
STATE = np.dtype([("taken", np.uint8, (CELLS,))])
NUM_ACTIONS = MAX_LEGAL = MAX_PLIES = CELLS
PLANES = (1, 10, 15)
SYMMETRIES = ((range(CELLS), range(CELLS)),)
WINNING = CELLS - 2


@compiled
def start(state):
    state.taken[:] = 0


@compiled
def legal(state, out):
    count = 0
    for cell in range(CELLS):
        if not state.taken[cell]:
            out[count] = cell
            count += 1
    return count


@compiled
def play(state, action):
    state.taken[action] = 1


@compiled
def outcome(state):
    return LOSS if state.taken[WINNING] else ONGOING


@compiled
def planes(state, out):
    for cell in range(CELLS):
        out[0, cell // 15, cell % 15] = state.taken[cell]


def show(state):
    return "".join("x" if cell else "." for cell in state.taken)


def read_move(state, text):
    if not text.isdecimal() or int(text) >= CELLS or state.taken[int(text)]:
        raise IllegalPosition(f"a move is a free cell from 0 to {CELLS - 1}, got {text!r}")
    return int(text)


def write_move(state, action):
    return str(action)
