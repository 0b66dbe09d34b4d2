"""An exact Connect Four solver: null-window negamax over bitboards, with a transposition table.

The score of a win is the number of stones that the winner has left just before the winning move,
so fast wins have high scores; a loss has the negative score, a draw 0. A win with n plies played
before the winning move scores (43 - n) // 2, as in the solver of Pascal Pons. Scores are for the
player to move:

    112233    column 4 wins, with 18 of 21 stones left: 18
    1122334   is over and has no score

Below, `mover` and `stones` are the two bitboards of a state, and a set of cells is a bitboard too.
The search visits only positions without an immediate win; its caller handles that case.
"""

import numpy as np
from numpy.typing import NDArray

from rookery.base import ConfigError, IllegalPosition, compiled
from rookery.games import ONGOING, State, load_game

Cells = np.uint64
Table = NDArray[np.uint64]

CELLS = 42
PROBE_CHILDREN = 30  # plies below which probing the table for the children saves time (measured)
MAX_TABLE_BITS = 30
ILLEGAL = -100  # the score of a move into a full column
UNKNOWN = -100
U0, U1, U2, U3, U6, U7, U8 = (np.uint64(n) for n in (0, 1, 2, 3, 6, 7, 8))
U12, U24, U31, U32 = (np.uint64(n) for n in (12, 24, 31, 32))
BOTTOM = np.uint64(sum(1 << 7 * column for column in range(7)))
BOARD = np.uint64(sum(0b111111 << 7 * column for column in range(7)))
COLUMNS = np.array([0b111111 << 7 * column for column in range(7)], np.uint64)
CENTRE_FIRST = np.array([3, 2, 4, 1, 5, 0, 6], np.uint64)
SIDEWAYS = np.array([6, 7, 8], np.uint64)  # falling, flat, rising

# A table entry: the key in 52 bits, then the lower and the upper bound in 6 bits each.
BOUND = np.uint64(63)
OFFSET = 21  # added to a bound, so that it is not negative
HASH_BITS = np.uint64(0xFFFFFFFF)
HASH_FACTOR = np.uint64(0x9E3779B1)


@compiled
def winning_cells(player: Cells, stones: Cells) -> Cells:
    """Return the empty cells that complete a four of `player`, playable now or later."""
    found = (player << U1) & (player << U2) & (player << U3)
    for step in SIDEWAYS:
        right = (player << step) & (player << step + step)
        found |= right & (player << step + step + step)
        found |= right & (player >> step)
        left = (player >> step) & (player >> step + step)
        found |= left & (player >> step + step + step)
        found |= left & (player << step)
    return found & (BOARD ^ stones)


@compiled
def playable_cells(stones: Cells) -> Cells:
    """Return the lowest empty cell of each column that is not full."""
    return (stones + BOTTOM) & BOARD


@compiled
def safe_moves(mover: Cells, stones: Cells) -> Cells:
    """Return the playable cells after which the opponent has no immediate win."""
    moves = playable_cells(stones)
    threats = winning_cells(mover ^ stones, stones)
    forced = moves & threats
    if forced:
        if forced & (forced - U1):
            return U0
        moves = forced
    return moves & ~(threats >> U1)


@compiled
def count_cells(cells: Cells) -> int:
    """Return the number of cells in a set."""
    count = 0
    while cells:
        cells &= cells - U1
        count += 1
    return count


@compiled
def ordered_columns(mover: Cells, stones: Cells, moves: Cells) -> Cells:
    """Return the columns of `moves`, best first: most threats, then nearest to the centre.

    Each column takes one byte, the first one the lowest: (threats + 1) in five bits, the column
    in three.
    """
    ordered = U0
    for column in CENTRE_FIRST:
        move = moves & COLUMNS[column]
        if move:
            threats = np.uint64(1 + count_cells(winning_cells(mover | move, stones | move)))
            shift = U0
            while ordered >> shift + U3 & U31 >= threats:
                shift += U8
            ahead = ordered & ((U1 << shift) - U1)
            ordered = ahead | (threats << U3 | column) << shift | (ordered ^ ahead) << U8
    return ordered


@compiled
def signed(word: Cells) -> int:
    """Return the word as a signed integer; `int` alone keeps it unsigned when compiled."""
    return int(np.int64(word))


@compiled
def slot(key: Cells, table: Table) -> int:
    """Return the index of `key` in the table."""
    mixed = ((key ^ key >> U32) & HASH_BITS) * HASH_FACTOR
    return signed(mixed >> U24 & np.uint64(table.size - 1))


@compiled
def entry(key: Cells, lower: int, upper: int) -> Cells:
    """Return an entry of the table."""
    return key << U12 | np.uint64(lower + OFFSET) << U6 | np.uint64(upper + OFFSET)


@compiled
def known_refutation(mover: Cells, stones: Cells, moves: Cells, beta: int, table: Table) -> int:
    """Return a bound of at least `beta` that the table has for one of the moves, or UNKNOWN."""
    while moves:
        rest = moves & (moves - U1)
        key = (mover ^ stones) + (stones | (moves ^ rest))
        found = table[slot(key, table)]
        if found >> U12 == key:
            value = OFFSET - signed(found & BOUND)
            if value >= beta:
                return value
        moves = rest
    return UNKNOWN


@compiled
def search(
    mover: Cells, stones: Cells, plies: int, beta: int, table: Table, nodes: NDArray[np.int64]
) -> int:
    """Return a lower bound of the score if it is at least `beta`, else an upper bound below it."""
    nodes[0] += 1
    moves = safe_moves(mover, stones)
    if not moves:
        return -((CELLS - plies) // 2)
    lower, upper = -((CELLS - 2 - plies) // 2), (CELLS - 1 - plies) // 2
    key = mover + stones
    index = slot(key, table)
    found = table[index]
    if found >> U12 == key:
        lower = max(lower, signed(found >> U6 & BOUND) - OFFSET)
        upper = min(upper, signed(found & BOUND) - OFFSET)
    if lower >= beta:
        return lower
    if upper < beta:
        return upper
    if plies < PROBE_CHILDREN:
        value = known_refutation(mover, stones, moves, beta, table)
        if value != UNKNOWN:
            return value
    best = lower
    ordered = ordered_columns(mover, stones, moves)
    while ordered:
        move = moves & COLUMNS[ordered & U7]
        ordered >>= U8
        value = -search(mover ^ stones, stones | move, plies + 1, 1 - beta, table, nodes)
        if value >= beta:
            table[index] = entry(key, max(lower, value), upper)
            return value
        best = max(best, value)
    table[index] = entry(key, lower, best)
    return best


@compiled
def solve(mover: Cells, stones: Cells, table: Table, nodes: NDArray[np.int64]) -> int:
    """Return the score by bisection with null windows, close wins first because they are cheap."""
    plies = count_cells(stones)
    if winning_cells(mover, stones) & playable_cells(stones):
        return (CELLS + 1 - plies) // 2
    low, high = -((CELLS - plies) // 2), (CELLS - 1 - plies) // 2
    while low < high:
        middle = (low + high) // 2
        middle = min(middle, -(-low // 2)) if middle <= 0 else max(middle, high // 2)
        value = search(mover, stones, plies, middle + 1, table, nodes)
        if value <= middle:
            high = value
        else:
            low = value
    return low


@compiled
def reaches(
    mover: Cells, stones: Cells, bound: int, table: Table, nodes: NDArray[np.int64]
) -> bool:
    """Return whether the score is at least `bound`."""
    plies = count_cells(stones)
    if winning_cells(mover, stones) & playable_cells(stones):
        return (CELLS + 1 - plies) // 2 >= bound
    if bound <= -((CELLS - plies) // 2):
        return True
    if bound > (CELLS - 1 - plies) // 2:
        return False
    return search(mover, stones, plies, bound, table, nodes) >= bound


@compiled
def solve_moves(
    mover: Cells, stones: Cells, table: Table, nodes: NDArray[np.int64], out: NDArray[np.int64]
) -> None:
    """Write the score of each of the seven moves for `mover`, or ILLEGAL."""
    wins = winning_cells(mover, stones)
    for column in range(7):
        move = playable_cells(stones) & COLUMNS[column]
        if not move:
            out[column] = ILLEGAL
        elif move & wins:
            out[column] = (CELLS + 1 - count_cells(stones)) // 2
        elif stones | move == BOARD:
            out[column] = 0
        else:
            out[column] = -solve(mover ^ stones, stones | move, table, nodes)


class Connect4Solver:
    """Solves positions; a transposition table of 2**table_bits entries is kept between calls."""

    def __init__(self, table_bits: int = 22) -> None:
        if not 1 <= table_bits <= MAX_TABLE_BITS:
            raise ConfigError(f"table_bits must be 1 to {MAX_TABLE_BITS}, got {table_bits}")
        self._rules = load_game("connect4").rules
        self._table = np.zeros(1 << table_bits, np.uint64)
        self._nodes = np.zeros(1, np.int64)
        self._scores = np.zeros(7, np.int64)

    @property
    def nodes(self) -> int:
        """Number of positions searched so far."""
        return int(self._nodes[0])

    def score(self, state: State) -> int:
        """Return the score of `state`, which must not be terminal."""
        self._check(state)
        return int(solve(state.mover, state.stones, self._table, self._nodes))

    def reaches(self, state: State, bound: int) -> bool:
        """Return whether the score of `state` is at least `bound`; cheaper than the score."""
        self._check(state)
        return bool(reaches(state.mover, state.stones, bound, self._table, self._nodes))

    def scores(self, state: State) -> list[int | None]:
        """Return [7] the score of each move for the player to move, None if the column is full."""
        self._check(state)
        solve_moves(state.mover, state.stones, self._table, self._nodes, self._scores)
        return [None if score == ILLEGAL else int(score) for score in self._scores]

    def _check(self, state: State) -> None:
        if self._rules.outcome(state) != ONGOING:
            raise IllegalPosition("the game is over; only a position with legal moves has a score")
