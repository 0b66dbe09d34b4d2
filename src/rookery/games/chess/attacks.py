"""Where chess pieces go: sets of squares as 64 bits, a1 the lowest, h8 the highest.

No tables: rays come from arithmetic, so that nothing has to be carried to a device.
"""

import numpy as np

from rookery.base import Bits, compiled, highest

U = np.uint64
U0, U1, U2, U3, U7, U8, U9, U16, U56, U63 = map(U, (0, 1, 2, 3, 7, 8, 9, 16, 56, 63))
ALL = U(0xFFFFFFFFFFFFFFFF)
RANK_1, FILE_A, FILE_H = U(0xFF), U(0x0101010101010101), U(0x8080808080808080)
NOT_A, NOT_H = ~FILE_A, ~FILE_H
NOT_AB, NOT_GH = U(0xFCFCFCFCFCFCFCFC), U(0x3F3F3F3F3F3F3F3F)
DIAGONAL, ANTIDIAGONAL = U(0x8040201008040201), U(0x0102040810204080)
BYTES, PAIRS = U(0x00FF00FF00FF00FF), U(0x0000FFFF0000FFFF)
U32 = U(32)


@compiled
def flipped(squares: Bits) -> Bits:
    """The board seen from the other side: ranks in reverse order."""
    squares = ((squares >> U8) & BYTES) | ((squares & BYTES) << U8)
    squares = ((squares >> U16) & PAIRS) | ((squares & PAIRS) << U16)
    return (squares >> U32) | (squares << U32)


@compiled
def line(square: Bits, way: int) -> Bits:
    """The whole rank (0), file (1), diagonal (2) or antidiagonal (3) through `square`."""
    if way == 0:
        return RANK_1 << (square & U56)
    if way == 1:
        return FILE_A << (square & U7)
    rank, file = square & U56, (square & U7) << U3
    if way == 2:
        return DIAGONAL << (rank - file) if rank >= file else DIAGONAL >> (file - rank)
    shift = rank + file
    return ANTIDIAGONAL << (shift - U56) if shift >= U56 else ANTIDIAGONAL >> (U56 - shift)


@compiled
def along(square: Bits, occupied: Bits, way: int) -> Bits:
    """Squares that a slider reaches along one line: the difference of the obstructions."""
    ray, bit = line(square, way), U1 << square
    lower = ray & (bit - U1)
    upper = ray & ~(bit | (bit - U1))
    below = U1 << highest((lower & occupied) | U1)
    above = upper & occupied
    return (lower | upper) & (above ^ (above - below))


@compiled
def rook_attacks(square: Bits, occupied: Bits) -> Bits:
    return along(square, occupied, 0) | along(square, occupied, 1)


@compiled
def bishop_attacks(square: Bits, occupied: Bits) -> Bits:
    return along(square, occupied, 2) | along(square, occupied, 3)


@compiled
def knight_attacks(knights: Bits) -> Bits:
    """Squares attacked by a set of knights."""
    near = ((knights << U1) & NOT_A) | ((knights >> U1) & NOT_H)
    far = ((knights << U2) & NOT_AB) | ((knights >> U2) & NOT_GH)
    return (near << U16) | (near >> U16) | (far << U8) | (far >> U8)


@compiled
def beside(squares: Bits) -> Bits:
    """The neighbours to the left and to the right."""
    return ((squares << U1) & NOT_A) | ((squares >> U1) & NOT_H)


@compiled
def king_attacks(king: Bits) -> Bits:
    sides = beside(king)
    row = king | sides
    return sides | (row << U8) | (row >> U8)


@compiled
def flood_up(sliders: Bits, free: Bits, step: Bits, keep: Bits) -> Bits:
    """Squares attacked by a set of sliders in one direction, towards higher squares."""
    free &= keep
    sliders |= free & (sliders << step)
    free &= free << step
    sliders |= free & (sliders << (step + step))
    free &= free << (step + step)
    sliders |= free & (sliders << (step << U2))
    return (sliders << step) & keep


@compiled
def flood_down(sliders: Bits, free: Bits, step: Bits, keep: Bits) -> Bits:
    """The same, towards lower squares."""
    free &= keep
    sliders |= free & (sliders >> step)
    free &= free >> step
    sliders |= free & (sliders >> (step + step))
    free &= free >> (step + step)
    sliders |= free & (sliders >> (step << U2))
    return (sliders >> step) & keep


@compiled
def straight_floods(sliders: Bits, free: Bits) -> Bits:
    """Squares attacked by a set of rooks and queens along ranks and files."""
    files = flood_up(sliders, free, U8, ALL) | flood_down(sliders, free, U8, ALL)
    return files | flood_up(sliders, free, U1, NOT_A) | flood_down(sliders, free, U1, NOT_H)


@compiled
def diagonal_floods(sliders: Bits, free: Bits) -> Bits:
    """Squares attacked by a set of bishops and queens along diagonals."""
    rising = flood_up(sliders, free, U9, NOT_A) | flood_down(sliders, free, U9, NOT_H)
    return rising | flood_up(sliders, free, U7, NOT_H) | flood_down(sliders, free, U7, NOT_A)
