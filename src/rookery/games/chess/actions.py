"""The action numbers of chess moves, as the player to move sees the board.

The 1,792 moves of a queen or a knight on an empty board come first, by origin and then by target;
a pawn that reaches the last rank by them becomes a queen. The 66 underpromotions come last: knight,
bishop and rook for each of the 22 promotion moves.
"""

import numpy as np

UNDERPROMOTIONS = 3  # knight, bishop, rook
PROMOTED_BIT = 12


def _is_queen_or_knight_move(origin: int, target: int) -> bool:
    across, up = abs(target % 8 - origin % 8), abs(target // 8 - origin // 8)
    is_line = across == 0 or up == 0 or across == up
    return origin != target and (is_line or {across, up} == {1, 2})


PAIRS = [(a, b) for a in range(64) for b in range(64) if _is_queen_or_knight_move(a, b)]
PROMOTIONS = [(a, b) for a in range(48, 56) for b in range(56, 64) if abs(a % 8 - b % 8) <= 1]
NUM_ACTIONS = len(PAIRS) + UNDERPROMOTIONS * len(PROMOTIONS)
MAX_LEGAL = 218

ACTION_OF = np.zeros(64 * 64, np.int16)
"""[64 * 64] action by origin + 64 * target."""
UNDERPROMOTION_OF = np.zeros(64 * 64, np.int16)
"""[64 * 64] action of the promotion to a knight; bishop and rook follow."""
FROM_TO = np.zeros(NUM_ACTIONS, np.uint16)
"""[A] origin + 64 * target + 4096 * underpromotion (0 none, 1 knight, 2 bishop, 3 rook)."""

for _action, (_from, _to) in enumerate(PAIRS):
    ACTION_OF[_from + 64 * _to] = _action
    FROM_TO[_action] = _from + 64 * _to
for _index, (_from, _to) in enumerate(PROMOTIONS):
    _first = len(PAIRS) + UNDERPROMOTIONS * _index
    UNDERPROMOTION_OF[_from + 64 * _to] = _first
    for _piece in range(UNDERPROMOTIONS):
        FROM_TO[_first + _piece] = _from + 64 * _to + 4096 * (1 + _piece)

QUEEN_DIRECTIONS = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
KNIGHT_JUMPS = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]


def _plane(origin: int, target: int, piece: int) -> int:
    """Return the policy plane: 56 directions and distances, 8 knight jumps, 9 underpromotions."""
    across, up = target % 8 - origin % 8, target // 8 - origin // 8
    if piece:
        return 64 + 3 * (piece - 1) + across + 1
    if (across, up) in KNIGHT_JUMPS:
        return 56 + KNIGHT_JUMPS.index((across, up))
    distance = max(abs(across), abs(up))
    return 7 * QUEEN_DIRECTIONS.index((across // distance, up // distance)) + distance - 1


def _cell(move: int) -> int:
    origin, target, piece = move & 63, move >> 6 & 63, move >> PROMOTED_BIT
    return 64 * _plane(origin, target, piece) + 8 * (7 - origin // 8) + origin % 8


POLICY_CELLS = np.array([_cell(int(move)) for move in FROM_TO], np.int64)
"""[A] plane * 64 + cell of each action in a convolutional policy head."""
