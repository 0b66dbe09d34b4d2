"""Nim: take one, two or three of twelve matches in turn. Whoever takes the last one wins.

A move is written as the number of matches, a position as its moves: `312`. `own_game.py` trains
this game. docs/own-game.md explains the names that a rules file defines.
"""

import numpy as np

from rookery.games import LOSS, ONGOING, IllegalPosition, compiled

NAME = "nim"
VERSION = 1
STATE = np.dtype([("matches", np.int8)])
NUM_ACTIONS = 3
MAX_LEGAL = 3
MAX_PLIES = 12
PLANES = (1, 3, 4)  # one cell per match, 1 if it is still there
SYMMETRIES = ((np.arange(12), np.arange(3)),)  # the identity alone


@compiled
def start(state):
    state.matches = 12


@compiled
def legal(state, out):
    count = min(3, state.matches)
    for action in range(count):
        out[action] = action
    return count


@compiled
def play(state, action):
    state.matches -= action + 1


@compiled
def outcome(state):
    return LOSS if state.matches == 0 else ONGOING


@compiled
def planes(state, out):
    for cell in range(12):
        out[0, cell // 4, cell % 4] = cell < state.matches


def show(state):
    return "|" * int(state.matches)


def write_move(state, action):
    return str(action + 1)


def read_move(state, text):
    if text not in ("1", "2", "3") or int(text) > state.matches:
        raise IllegalPosition(f"expected 1 to {min(3, state.matches)} matches, got {text!r}")
    return int(text) - 1
