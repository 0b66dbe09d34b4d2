"""Nim: take one, two or three of seven matches; whoever takes the last one wins."""

from rookery.games import LOSS, ONGOING, compiled

NAME = "nim"
STATE = [("matches", "i1")]
NUM_ACTIONS = 3
MAX_PLIES = 7
PLANES = (1, 1, 7)


@compiled
def start(state):
    state.matches = 7


@compiled
def legal(state, out):
    for action in range(min(3, state.matches)):
        out[action] = action
    return min(3, state.matches)


@compiled
def play(state, action):
    state.matches -= action + 1


@compiled
def outcome(state):
    return LOSS if state.matches == 0 else ONGOING


@compiled
def planes(state, out):
    for match in range(7):
        out[0, 0, match] = match < state.matches
