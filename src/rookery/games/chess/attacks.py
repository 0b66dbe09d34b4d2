"""Attacks, checks and pins on bitboards: bit 0 is a1, bit 63 is h8.

Rays are computed, not looked up, so that GPU kernels need no tables. Checks and pins, which decide
whether a move is legal, are seen by the player to move, whose pawns move towards higher squares.
"""

from typing import NamedTuple

import numpy as np

from rookery.base import Bits, compiled, highest, lowest
from rookery.games.game import State

U = np.uint64
U0, U1, U2, U3, U7, U8, U9, U16, U56, U63 = map(U, (0, 1, 2, 3, 7, 8, 9, 16, 56, 63))
ALL = U(0xFFFFFFFFFFFFFFFF)
RANK_1, FILE_A, FILE_H = U(0xFF), U(0x0101010101010101), U(0x8080808080808080)
NOT_A, NOT_H = ~FILE_A, ~FILE_H
NOT_AB, NOT_GH = U(0xFCFCFCFCFCFCFCFC), U(0x3F3F3F3F3F3F3F3F)
DIAGONAL, ANTIDIAGONAL = U(0x8040201008040201), U(0x0102040810204080)
BYTES, PAIRS = U(0x00FF00FF00FF00FF), U(0x0000FFFF0000FFFF)
U32 = U(32)


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
def flip_vertical(squares: Bits) -> Bits:
    """Return the board as the other player sees it, with the ranks in reverse order."""
    squares = ((squares >> U8) & BYTES) | ((squares & BYTES) << U8)
    squares = ((squares >> U16) & PAIRS) | ((squares & PAIRS) << U16)
    return (squares >> U32) | (squares << U32)


@compiled
def line(square: Bits, direction: int) -> Bits:
    """Return the whole rank (0), file (1), diagonal (2) or antidiagonal (3) through `square`."""
    if direction == 0:
        return RANK_1 << (square & U56)
    if direction == 1:
        return FILE_A << (square & U7)
    rank, file = square & U56, (square & U7) << U3
    if direction == 2:
        return DIAGONAL << (rank - file) if rank >= file else DIAGONAL >> (file - rank)
    shift = rank + file
    return ANTIDIAGONAL << (shift - U56) if shift >= U56 else ANTIDIAGONAL >> (U56 - shift)


@compiled
def slider_attacks(square: Bits, occupied: Bits, direction: int) -> Bits:
    """Return the attacks along one line by the obstruction difference method."""
    ray, bit = line(square, direction), U1 << square
    lower = ray & (bit - U1)
    upper = ray & ~(bit | (bit - U1))
    below = U1 << highest((lower & occupied) | U1)
    above = upper & occupied
    return (lower | upper) & (above ^ (above - below))


@compiled
def rook_attacks(square: Bits, occupied: Bits) -> Bits:
    return slider_attacks(square, occupied, 0) | slider_attacks(square, occupied, 1)


@compiled
def bishop_attacks(square: Bits, occupied: Bits) -> Bits:
    return slider_attacks(square, occupied, 2) | slider_attacks(square, occupied, 3)


@compiled
def knight_attacks(knights: Bits) -> Bits:
    """Return the squares that a set of knights attacks."""
    near = ((knights << U1) & NOT_A) | ((knights >> U1) & NOT_H)
    far = ((knights << U2) & NOT_AB) | ((knights >> U2) & NOT_GH)
    return (near << U16) | (near >> U16) | (far << U8) | (far >> U8)


@compiled
def adjacent(squares: Bits) -> Bits:
    """Return the squares next to `squares` on the same rank."""
    return ((squares << U1) & NOT_A) | ((squares >> U1) & NOT_H)


@compiled
def king_attacks(king: Bits) -> Bits:
    sides = adjacent(king)
    row = king | sides
    return sides | (row << U8) | (row >> U8)


@compiled
def fill_up(sliders: Bits, empty: Bits, step: Bits, mask: Bits) -> Bits:
    """Return the attacks of a set of sliders towards higher squares (Kogge-Stone fill)."""
    empty &= mask
    sliders |= empty & (sliders << step)
    empty &= empty << step
    sliders |= empty & (sliders << (step + step))
    empty &= empty << (step + step)
    sliders |= empty & (sliders << (step << U2))
    return (sliders << step) & mask


@compiled
def fill_down(sliders: Bits, empty: Bits, step: Bits, mask: Bits) -> Bits:
    """Return the attacks of a set of sliders towards lower squares."""
    empty &= mask
    sliders |= empty & (sliders >> step)
    empty &= empty >> step
    sliders |= empty & (sliders >> (step + step))
    empty &= empty >> (step + step)
    sliders |= empty & (sliders >> (step << U2))
    return (sliders >> step) & mask


@compiled
def straight_attacks(sliders: Bits, empty: Bits) -> Bits:
    """Return the squares that a set of rooks and queens attacks along ranks and files."""
    files = fill_up(sliders, empty, U8, ALL) | fill_down(sliders, empty, U8, ALL)
    return files | fill_up(sliders, empty, U1, NOT_A) | fill_down(sliders, empty, U1, NOT_H)


@compiled
def diagonal_attacks(sliders: Bits, empty: Bits) -> Bits:
    """Return the squares that a set of bishops and queens attacks along diagonals."""
    rising = fill_up(sliders, empty, U9, NOT_A) | fill_down(sliders, empty, U9, NOT_H)
    return rising | fill_up(sliders, empty, U7, NOT_H) | fill_down(sliders, empty, U7, NOT_A)


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
