"""Checks, pins and attacked squares, which decide whether a move is legal.

The board is always seen by the player to move, whose pawns move towards higher squares.
"""

from typing import NamedTuple

from rookery.base import Bits, compiled, highest, lowest
from rookery.games.chess.attacks import (
    ALL,
    U0,
    U1,
    U8,
    adjacent,
    diagonal_attacks,
    king_attacks,
    knight_attacks,
    line,
    straight_attacks,
)
from rookery.games.game import State


class CheckInfo(NamedTuple):
    """What the legality of a move depends on."""

    occupied: Bits
    king_danger: Bits
    """Squares that the king must not enter."""
    check_mask: Bits
    """Squares where another piece ends the check; all squares if there is no check."""
    straight_pins: Bits
    """Ranks and files between the king and a pinning piece, each with one pinned piece."""
    diagonal_pins: Bits
    """The same for diagonals."""
    leaper_checkers: Bits
    """Pawns and knights that give check."""


@compiled
def occupied_squares(state: State) -> Bits:
    minors = state.knights | state.bishops
    return state.pawns | minors | state.rooks | state.queens | state.kings


@compiled
def attacked_squares(state: State, occupied: Bits) -> Bits:
    """Return the squares that the opponent attacks when `occupied` squares block sliders."""
    opponent, empty = occupied_squares(state) & ~state.own, ~occupied
    attacked = adjacent((state.pawns & opponent) >> U8)
    attacked |= knight_attacks(state.knights & opponent) | king_attacks(state.kings & opponent)
    attacked |= straight_attacks((state.rooks | state.queens) & opponent, empty)
    return attacked | diagonal_attacks((state.bishops | state.queens) & opponent, empty)


@compiled
def scan_up(ray: Bits, occupied: Bits, own: Bits, sliders: Bits) -> tuple[Bits, Bits]:
    """Return the check mask and the pinned line on the king's ray towards h8."""
    blockers = ray & occupied
    first = blockers & (~blockers + U1)
    if first & sliders:
        return ray & (first | (first - U1)), U0
    blockers ^= first
    second = blockers & (~blockers + U1)
    if first & own and second & sliders:
        return ALL, ray & (second | (second - U1))
    return ALL, U0


@compiled
def scan_down(ray: Bits, occupied: Bits, own: Bits, sliders: Bits) -> tuple[Bits, Bits]:
    """Return the same for the ray towards a1; `highest` needs at least one bit."""
    blockers = ray & occupied
    if not blockers & sliders:
        return ALL, U0
    first = U1 << highest(blockers)
    if first & sliders:
        return ray & ~(first - U1), U0
    blockers ^= first
    second = U1 << highest(blockers)
    if first & own and second & sliders:
        return ALL, ray & ~(second - U1)
    return ALL, U0


@compiled
def scan(state: State, occupied: Bits, king: Bits, direction: int) -> tuple[Bits, Bits]:
    """Return the check mask and the pinned lines of one line through the king."""
    opponent = occupied & ~state.own
    sliders = ((state.rooks if direction < 2 else state.bishops) | state.queens) & opponent
    both_rays = line(lowest(king), direction)
    if not both_rays & sliders:
        return ALL, U0
    upper = both_rays & ~(king | (king - U1))
    mask, pins = scan_up(upper, occupied, state.own, sliders)
    lower_mask, lower_pins = scan_down(both_rays & (king - U1), occupied, state.own, sliders)
    return mask & lower_mask, pins | lower_pins


@compiled
def check_info(state: State) -> CheckInfo:
    """Return the checks, pins and attacked squares of a position."""
    occupied, king = occupied_squares(state), state.kings & state.own
    opponent = occupied & ~state.own
    leapers = adjacent(king << U8) & state.pawns & opponent
    leapers |= knight_attacks(king) & state.knights & opponent
    rank_mask, rank_pins = scan(state, occupied, king, 0)
    file_mask, file_pins = scan(state, occupied, king, 1)
    diagonal_mask, diagonal_pins = scan(state, occupied, king, 2)
    antidiagonal_mask, antidiagonal_pins = scan(state, occupied, king, 3)
    check_mask = rank_mask & file_mask & diagonal_mask & antidiagonal_mask
    if leapers:  # no piece can capture two of them
        check_mask &= leapers if not leapers & (leapers - U1) else U0
    return CheckInfo(
        occupied,
        attacked_squares(state, occupied ^ king),
        check_mask,
        rank_pins | file_pins,
        diagonal_pins | antidiagonal_pins,
        leapers,
    )


@compiled
def is_check(state: State) -> bool:
    """Return whether the king of the player to move is attacked."""
    return bool(attacked_squares(state, occupied_squares(state)) & state.kings & state.own)
