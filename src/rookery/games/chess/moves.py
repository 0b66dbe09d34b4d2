"""Legal moves of chess, making a move, and the outcome of a game.

The board is always seen by the player to move and is flipped after each move, so that the rules
need not distinguish white and black.
"""

import numpy as np
from numpy.typing import NDArray

from rookery.base import Bits, Index, compiled, lowest
from rookery.games.chess.actions import ACTION_OF, FROM_TO, UNDERPROMOTION_OF, UNDERPROMOTIONS
from rookery.games.chess.attacks import (
    ALL,
    FILE_A,
    FILE_H,
    NOT_A,
    NOT_H,
    RANK_1,
    U0,
    U1,
    U2,
    U3,
    U7,
    U8,
    U9,
    U16,
    U63,
    CheckInfo,
    U,
    adjacent,
    bishop_attacks,
    check_info,
    flip_vertical,
    king_attacks,
    knight_attacks,
    occupied_squares,
    rook_attacks,
)
from rookery.games.game import DRAW, LOSS, ONGOING, State

U4, U6, U12 = U(4), U(6), U(12)
RANK_3, RANK_8 = U(0xFF0000), U(0xFF00000000000000)
DARK = U(0xAA55AA55AA55AA55)
FIFTY_MOVES = 100  # plies
MAX_REPETITIONS = 2  # earlier occurrences of a position: the third occurrence is a draw


@compiled
def piece_targets(state: State, info: CheckInfo, square: Bits) -> Bits:
    """Return the legal targets of the knight, bishop, rook or queen on `square`."""
    bit, found = U1 << square, U0
    if state.knights & bit:
        is_pinned = (info.straight_pins | info.diagonal_pins) & bit
        found = U0 if is_pinned else knight_attacks(bit)
    if (state.bishops | state.queens) & bit and not info.straight_pins & bit:
        line = info.diagonal_pins if info.diagonal_pins & bit else ALL
        found |= bishop_attacks(square, info.occupied) & line
    if (state.rooks | state.queens) & bit and not info.diagonal_pins & bit:
        line = info.straight_pins if info.straight_pins & bit else ALL
        found |= rook_attacks(square, info.occupied) & line
    return found & info.check_mask & ~state.own


@compiled
def king_targets(state: State, info: CheckInfo) -> Bits:
    """Return the legal targets of the king, including castling."""
    king = state.kings & state.own
    found = king_attacks(king) & ~state.own & ~info.king_danger
    rights = state.castling & RANK_1
    if not rights or info.king_danger & king:
        return found
    short, long = king << U1 | king << U2, king >> U1 | king >> U2
    if rights & FILE_H and not short & (info.occupied | info.king_danger):
        found |= king << U2
    if rights & FILE_A and not (long & info.king_danger or (long | king >> U3) & info.occupied):
        found |= king >> U2
    return found


@compiled
def pawn_pushes(state: State, info: CheckInfo) -> tuple[Bits, Bits]:
    """Return the targets of single and of double pawn pushes."""
    pawns = state.pawns & state.own & ~info.diagonal_pins
    free, pinned = pawns & ~info.straight_pins, pawns & info.straight_pins
    single = (free << U8 | pinned << U8 & info.straight_pins) & ~info.occupied
    double = (single & RANK_3) << U8 & ~info.occupied & info.check_mask
    return single & info.check_mask, double


@compiled
def pawn_captures(state: State, info: CheckInfo) -> tuple[Bits, Bits]:
    """Return the targets of pawn captures to the right and to the left."""
    pawns = state.pawns & state.own & ~info.straight_pins
    free, pinned = pawns & ~info.diagonal_pins, pawns & info.diagonal_pins
    captures = info.occupied & ~state.own & info.check_mask
    right = (free << U9 | pinned << U9 & info.diagonal_pins) & NOT_A & captures
    left = (free << U7 | pinned << U7 & info.diagonal_pins) & NOT_H & captures
    return right, left


@compiled
def en_passant_capturers(state: State, info: CheckInfo) -> Bits:
    """Return the pawns that can capture en passant; tried, as two pawns leave the rank at once."""
    target, found = state.passant, U0
    if not target:
        return found
    captured = target >> U8
    if info.leaper_checkers & ~captured:
        return found
    opponent, square = info.occupied & ~state.own, lowest(state.kings & state.own)
    capturers = adjacent(captured) & state.pawns & state.own
    while capturers:
        bit = capturers & (~capturers + U1)
        capturers ^= bit
        after = (info.occupied ^ bit ^ captured) | target
        straight = rook_attacks(square, after) & (state.rooks | state.queens) & opponent
        if not straight | bishop_attacks(square, after) & (state.bishops | state.queens) & opponent:
            found |= bit
    return found


@compiled
def clear_useless_en_passant(state: State) -> None:
    """Clear the en passant square if no pawn can capture there."""
    if state.passant and not en_passant_capturers(state, check_info(state)):
        state.passant = U0


@compiled
def emit_moves(out: NDArray[np.int32], count: Index, square: Bits, targets: Bits) -> Index:
    """Write the moves from `square` into out[count:]; return the new count."""
    while targets:
        out[count] = ACTION_OF[np.int64(square | lowest(targets) << U6)]
        targets &= targets - U1
        count += 1
    return count


@compiled
def emit_pawn_moves(out: NDArray[np.int32], count: Index, targets: Bits, step: Bits) -> Index:
    """Write the moves of pawns from `step` squares below `targets`; return the new count."""
    while targets:
        target = lowest(targets)
        move = np.int64(target - step | target << U6)
        out[count] = ACTION_OF[move]
        count += 1
        if U1 << target & RANK_8:
            for piece in range(UNDERPROMOTIONS):
                out[count] = UNDERPROMOTION_OF[move] + piece
                count += 1
        targets &= targets - U1
    return count


@compiled
def legal(state: State, out: NDArray[np.int32]) -> Index:
    info = check_info(state)
    king = lowest(state.kings & state.own)
    count = emit_moves(out, np.int64(0), king, king_targets(state, info))
    if not info.check_mask:  # double check: only the king can move
        return count
    pieces = state.own & ~(state.pawns | state.kings)
    while pieces:
        square = lowest(pieces)
        pieces &= pieces - U1
        count = emit_moves(out, count, square, piece_targets(state, info, square))
    single, double = pawn_pushes(state, info)
    right, left = pawn_captures(state, info)
    count = emit_pawn_moves(out, count, single, U8)
    count = emit_pawn_moves(out, count, double, U16)
    count = emit_pawn_moves(out, count, right, U9)
    count = emit_pawn_moves(out, count, left, U7)
    capturers = en_passant_capturers(state, info)
    while capturers:
        count = emit_moves(out, count, lowest(capturers), state.passant)
        capturers &= capturers - U1
    return count


@compiled
def can_move(state: State, info: CheckInfo) -> bool:
    """Return whether there is a legal move."""
    if king_targets(state, info):
        return True
    if not info.check_mask:
        return False
    single, double = pawn_pushes(state, info)
    right, left = pawn_captures(state, info)
    if single | double | right | left:
        return True
    pieces = state.own & ~(state.pawns | state.kings)
    while pieces:
        if piece_targets(state, info, lowest(pieces)):
            return True
        pieces &= pieces - U1
    return bool(en_passant_capturers(state, info))


@compiled
def has_insufficient_material(state: State) -> bool:
    """Return whether neither side can mate: at most one minor piece, or same-coloured bishops."""
    if state.pawns | state.rooks | state.queens:
        return False
    minors = state.knights | state.bishops
    if not minors & (minors - U1):
        return True
    bishops = state.bishops
    return bool(not state.knights and (not bishops & DARK or not bishops & ~DARK))


@compiled
def outcome(state: State) -> Index:
    info = check_info(state)
    if not can_move(state, info):
        return LOSS if info.king_danger & state.kings & state.own else DRAW
    if state.repeats >= MAX_REPETITIONS or state.clock >= FIFTY_MOVES:
        return DRAW
    if has_insufficient_material(state):
        return DRAW
    return ONGOING


@compiled
def move_piece(state: State, origin: Bits, target: Bits) -> None:
    """Move the piece on `origin` to `target`, capturing what stands there."""
    both = origin | target
    state.pawns = state.pawns & ~both | (target if state.pawns & origin else U0)
    state.knights = state.knights & ~both | (target if state.knights & origin else U0)
    state.bishops = state.bishops & ~both | (target if state.bishops & origin else U0)
    state.rooks = state.rooks & ~both | (target if state.rooks & origin else U0)
    state.queens = state.queens & ~both | (target if state.queens & origin else U0)
    state.kings = state.kings & ~both | (target if state.kings & origin else U0)
    state.own = state.own & ~origin | target


@compiled
def move_castling_rook(state: State, origin: Bits, target: Bits) -> None:
    """Move the rook, too, if the king castled from `origin` to `target`."""
    swap = U0
    if origin << U2 == target:
        swap = origin << U1 | origin << U3
    elif origin >> U2 == target:
        swap = origin >> U1 | origin >> U4
    state.rooks ^= swap
    state.own ^= swap


@compiled
def promote(state: State, target: Bits, piece: Bits) -> None:
    """Promote the pawn on `target` to a queen (0), knight (1), bishop (2) or rook (3)."""
    state.pawns ^= target
    if piece == U0:
        state.queens |= target
    elif piece == U1:
        state.knights |= target
    elif piece == U2:
        state.bishops |= target
    else:
        state.rooks |= target


@compiled
def switch_sides(state: State, passant: Bits) -> None:
    """Give the move to the other player and flip the board."""
    state.own = flip_vertical(occupied_squares(state) & ~state.own)
    state.pawns, state.knights = flip_vertical(state.pawns), flip_vertical(state.knights)
    state.bishops, state.rooks = flip_vertical(state.bishops), flip_vertical(state.rooks)
    state.queens, state.kings = flip_vertical(state.queens), flip_vertical(state.kings)
    state.castling = flip_vertical(state.castling)
    state.passant = flip_vertical(passant)
    state.black ^= 1
    state.ply += 1


@compiled
def play(state: State, action: Index) -> None:
    move = U(FROM_TO[action])
    origin, target, piece = U1 << (move & U63), U1 << (move >> U6 & U63), move >> U12
    is_pawn, is_king = state.pawns & origin, state.kings & origin
    is_capture = target & ~state.own & occupied_squares(state)
    state.clock = 0 if is_pawn or is_capture else state.clock + 1
    state.repeats = 0
    move_piece(state, origin, target)
    passant = U0
    if is_king:
        move_castling_rook(state, origin, target)
        state.castling &= ~RANK_1
    elif is_pawn:
        if target & state.passant:
            state.pawns &= ~(target >> U8)
        if target & RANK_8:
            promote(state, target, piece)
        if origin << U16 == target and adjacent(target) & state.pawns & ~state.own:
            passant = origin << U8
    state.castling &= ~(origin | target)
    switch_sides(state, passant)
    clear_useless_en_passant(state)
