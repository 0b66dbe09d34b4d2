"""The numbers of moves, as the player to move sees the board.

A move is its two squares. The 1,792 pairs that a queen or a knight could connect come first, by
origin and then by target; a pawn that arrives becomes a queen by them. The 66 ways to become
something less come last: knight, bishop, rook for each of the 22 ways to arrive.
"""

import numpy as np

PIECES = 3  # knight, bishop, rook
PROMOTED_BIT = 12


def _is_connected(origin: int, target: int) -> bool:
    across, up = abs(target % 8 - origin % 8), abs(target // 8 - origin // 8)
    is_line = across == 0 or up == 0 or across == up
    return origin != target and (is_line or {across, up} == {1, 2})


PAIRS = [(a, b) for a in range(64) for b in range(64) if _is_connected(a, b)]
ARRIVALS = [(a, b) for a in range(48, 56) for b in range(56, 64) if abs(a % 8 - b % 8) <= 1]
NUM_ACTIONS = len(PAIRS) + PIECES * len(ARRIVALS)
MAX_LEGAL = 218

ACTION_OF = np.zeros(64 * 64, np.int16)
"""The action of origin + 64 * target."""
UNDERPROMOTION_OF = np.zeros(64 * 64, np.int16)
"""The action that makes a knight; a bishop and a rook follow."""
FROM_TO = np.zeros(NUM_ACTIONS, np.uint16)
"""Of each action origin + 64 * target + 4096 * (0 plain, 1 knight, 2 bishop, 3 rook)."""

for _action, (_from, _to) in enumerate(PAIRS):
    ACTION_OF[_from + 64 * _to] = _action
    FROM_TO[_action] = _from + 64 * _to
for _arrival, (_from, _to) in enumerate(ARRIVALS):
    _first = len(PAIRS) + PIECES * _arrival
    UNDERPROMOTION_OF[_from + 64 * _to] = _first
    FROM_TO[_first : _first + PIECES] = _from + 64 * _to + 4096 * np.arange(1, 1 + PIECES)

QUEEN_WAYS = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
KNIGHT_WAYS = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]


def _plane(origin: int, target: int, piece: int) -> int:
    """The kind of a move: 56 by direction and distance, 8 jumps, 9 ways to become less."""
    across, up = target % 8 - origin % 8, target // 8 - origin // 8
    if piece:
        return 64 + 3 * (piece - 1) + across + 1
    if (across, up) in KNIGHT_WAYS:
        return 56 + KNIGHT_WAYS.index((across, up))
    distance = max(abs(across), abs(up))
    return 7 * QUEEN_WAYS.index((across // distance, up // distance)) + distance - 1


def _cell(move: int) -> int:
    origin, target, piece = move & 63, move >> 6 & 63, move >> PROMOTED_BIT
    return 64 * _plane(origin, target, piece) + 8 * (7 - origin // 8) + origin % 8


POLICY_CELLS = np.array([_cell(int(move)) for move in FROM_TO], np.int64)
"""Where a net that draws the policy on the board finds each action: plane * 64 + cell."""
