"""Legal moves of chess, how they are made, and how games end.

The board is always seen by the player to move: after each move it is turned round. So there is
one set of rules, without sides.
"""

import numpy as np
from numpy.typing import NDArray

from rookery.base import Bits, Index, compiled, lowest
from rookery.games.chess.actions import ACTION_OF, FROM_TO, PIECES, UNDERPROMOTION_OF
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
    U,
    beside,
    bishop_attacks,
    flipped,
    king_attacks,
    knight_attacks,
    rook_attacks,
)
from rookery.games.chess.check_info import CheckInfo, look
from rookery.games.game import DRAW, LOSS, ONGOING, State

U4, U6, U12 = U(4), U(6), U(12)
RANK_3, RANK_8 = U(0xFF0000), U(0xFF00000000000000)
DARK = U(0xAA55AA55AA55AA55)
FIFTY_MOVES = 100  # plies
REPETITIONS = 2  # times that the position stood before: the third one ends the game


@compiled
def piece_targets(state: State, sight: CheckInfo, square: Bits) -> Bits:
    """Where the mover's knight, bishop, rook or queen on `square` may go."""
    bit, found = U1 << square, U0
    if state.knights & bit:
        is_pinned = (sight.straight_pins | sight.diagonal_pins) & bit
        found = U0 if is_pinned else knight_attacks(bit)
    if (state.bishops | state.queens) & bit and not sight.straight_pins & bit:
        line = sight.diagonal_pins if sight.diagonal_pins & bit else ALL
        found |= bishop_attacks(square, sight.occupied) & line
    if (state.rooks | state.queens) & bit and not sight.diagonal_pins & bit:
        line = sight.straight_pins if sight.straight_pins & bit else ALL
        found |= rook_attacks(square, sight.occupied) & line
    return found & sight.targets & ~state.own


@compiled
def king_targets(state: State, sight: CheckInfo) -> Bits:
    """Where the mover's king may go, castling included."""
    king = state.kings & state.own
    found = king_attacks(king) & ~state.own & ~sight.danger
    rights = state.castling & RANK_1
    if not rights or sight.danger & king:
        return found
    short, long = king << U1 | king << U2, king >> U1 | king >> U2
    if rights & FILE_H and not short & (sight.occupied | sight.danger):
        found |= king << U2
    if rights & FILE_A and not (long & sight.danger or (long | king >> U3) & sight.occupied):
        found |= king >> U2
    return found


@compiled
def pawn_steps(state: State, sight: CheckInfo) -> tuple[Bits, Bits]:
    """The squares that pawns enter by one step and by two."""
    pawns = state.pawns & state.own & ~sight.diagonal_pins
    loose, pinned = pawns & ~sight.straight_pins, pawns & sight.straight_pins
    one = (loose << U8 | pinned << U8 & sight.straight_pins) & ~sight.occupied
    two = (one & RANK_3) << U8 & ~sight.occupied & sight.targets
    return one & sight.targets, two


@compiled
def pawn_captures(state: State, sight: CheckInfo) -> tuple[Bits, Bits]:
    """The squares where pawns take, going right and going left."""
    pawns = state.pawns & state.own & ~sight.straight_pins
    loose, pinned = pawns & ~sight.diagonal_pins, pawns & sight.diagonal_pins
    prey = sight.occupied & ~state.own & sight.targets
    right = (loose << U9 | pinned << U9 & sight.diagonal_pins) & NOT_A & prey
    left = (loose << U7 | pinned << U7 & sight.diagonal_pins) & NOT_H & prey
    return right, left


@compiled
def en_passant_capturers(state: State, sight: CheckInfo) -> Bits:
    """The mover's pawns that may take en passant: tried out, for two pawns leave a rank."""
    goal, found = state.passant, U0
    if not goal:
        return found
    taken = goal >> U8
    if sight.jumpers & ~taken:
        return found
    foe, square = sight.occupied & ~state.own, lowest(state.kings & state.own)
    takers = beside(taken) & state.pawns & state.own
    while takers:
        bit = takers & (~takers + U1)
        takers ^= bit
        after = (sight.occupied ^ bit ^ taken) | goal
        straight = rook_attacks(square, after) & (state.rooks | state.queens) & foe
        if not straight | bishop_attacks(square, after) & (state.bishops | state.queens) & foe:
            found |= bit
    return found


@compiled
def forget_passant(state: State) -> None:
    """A pawn that nobody may take in passing is like any other."""
    if state.passant and not en_passant_capturers(state, look(state)):
        state.passant = U0


@compiled
def put(out: NDArray[np.int32], count: Index, square: Bits, targets: Bits) -> Index:
    """Write the moves from `square`; how many there are now."""
    while targets:
        out[count] = ACTION_OF[np.int64(square | lowest(targets) << U6)]
        targets &= targets - U1
        count += 1
    return count


@compiled
def put_pawns(out: NDArray[np.int32], count: Index, targets: Bits, step: Bits) -> Index:
    """Write the moves of pawns that come from `step` squares below; how many there are now."""
    while targets:
        target = lowest(targets)
        move = np.int64(target - step | target << U6)
        out[count] = ACTION_OF[move]
        count += 1
        if U1 << target & RANK_8:
            for piece in range(PIECES):
                out[count] = UNDERPROMOTION_OF[move] + piece
                count += 1
        targets &= targets - U1
    return count


@compiled
def legal(state: State, out: NDArray[np.int32]) -> Index:
    sight = look(state)
    king = lowest(state.kings & state.own)
    count = put(out, np.int64(0), king, king_targets(state, sight))
    if not sight.targets:  # two pieces give check: only the king can move
        return count
    pieces = state.own & ~(state.pawns | state.kings)
    while pieces:
        square = lowest(pieces)
        pieces &= pieces - U1
        count = put(out, count, square, piece_targets(state, sight, square))
    one, two = pawn_steps(state, sight)
    right, left = pawn_captures(state, sight)
    count = put_pawns(out, count, one, U8)
    count = put_pawns(out, count, two, U16)
    count = put_pawns(out, count, right, U9)
    count = put_pawns(out, count, left, U7)
    takers = en_passant_capturers(state, sight)
    while takers:
        count = put(out, count, lowest(takers), state.passant)
        takers &= takers - U1
    return count


@compiled
def can_move(state: State, sight: CheckInfo) -> bool:
    """Whether the mover has a legal move."""
    if king_targets(state, sight):
        return True
    if not sight.targets:
        return False
    one, two = pawn_steps(state, sight)
    right, left = pawn_captures(state, sight)
    if one | two | right | left:
        return True
    pieces = state.own & ~(state.pawns | state.kings)
    while pieces:
        if piece_targets(state, sight, lowest(pieces)):
            return True
        pieces &= pieces - U1
    return bool(en_passant_capturers(state, sight))


@compiled
def is_insufficient(state: State) -> bool:
    """Whether nobody could ever mate: a lone minor piece, or bishops of one colour."""
    if state.pawns | state.rooks | state.queens:
        return False
    minors = state.knights | state.bishops
    if not minors & (minors - U1):
        return True
    bishops = state.bishops
    return bool(not state.knights and (not bishops & DARK or not bishops & ~DARK))


@compiled
def outcome(state: State) -> Index:
    sight = look(state)
    if not can_move(state, sight):
        return LOSS if sight.danger & state.kings & state.own else DRAW
    if state.repeats >= REPETITIONS or state.clock >= FIFTY_MOVES or is_insufficient(state):
        return DRAW
    return ONGOING


@compiled
def move_piece(state: State, bit: Bits, goal: Bits) -> None:
    """Take what stands on `goal` and move the mover's piece there."""
    both = bit | goal
    state.pawns = state.pawns & ~both | (goal if state.pawns & bit else U0)
    state.knights = state.knights & ~both | (goal if state.knights & bit else U0)
    state.bishops = state.bishops & ~both | (goal if state.bishops & bit else U0)
    state.rooks = state.rooks & ~both | (goal if state.rooks & bit else U0)
    state.queens = state.queens & ~both | (goal if state.queens & bit else U0)
    state.kings = state.kings & ~both | (goal if state.kings & bit else U0)
    state.own = state.own & ~bit | goal


@compiled
def move_rook(state: State, bit: Bits, goal: Bits) -> None:
    """Where the king castled from `bit` to `goal`, move the rook too."""
    swap = U0
    if bit << U2 == goal:
        swap = bit << U1 | bit << U3
    elif bit >> U2 == goal:
        swap = bit >> U1 | bit >> U4
    state.rooks ^= swap
    state.own ^= swap


@compiled
def promote(state: State, goal: Bits, piece: Bits) -> None:
    """The pawn on `goal` becomes a queen (0), knight, bishop or rook."""
    state.pawns ^= goal
    if piece == U0:
        state.queens |= goal
    elif piece == U1:
        state.knights |= goal
    elif piece == U2:
        state.bishops |= goal
    else:
        state.rooks |= goal


@compiled
def turn(state: State, passant: Bits) -> None:
    """Hand the move over: the board is turned round, and the other one owns his pieces."""
    occupied = state.pawns | state.knights | state.bishops
    occupied |= state.rooks | state.queens | state.kings
    state.own = flipped(occupied & ~state.own)
    state.pawns, state.knights = flipped(state.pawns), flipped(state.knights)
    state.bishops, state.rooks = flipped(state.bishops), flipped(state.rooks)
    state.queens, state.kings = flipped(state.queens), flipped(state.kings)
    state.castling = flipped(state.castling)
    state.passant = flipped(passant)
    state.black ^= 1
    state.ply += 1


@compiled
def play(state: State, action: Index) -> None:
    move = U(FROM_TO[action])
    bit, goal, piece = U1 << (move & U63), U1 << (move >> U6 & U63), move >> U12
    is_pawn, is_king = state.pawns & bit, state.kings & bit
    is_capture = (
        goal
        & ~state.own
        & (state.pawns | state.knights | state.bishops | state.rooks | state.queens)
    )
    state.clock = 0 if is_pawn or is_capture else state.clock + 1
    state.repeats = 0
    move_piece(state, bit, goal)
    passant = U0
    if is_king:
        move_rook(state, bit, goal)
        state.castling &= ~RANK_1
    elif is_pawn:
        if goal & state.passant:
            state.pawns &= ~(goal >> U8)
        if goal & RANK_8:
            promote(state, goal, piece)
        if bit << U16 == goal and beside(goal) & state.pawns & ~state.own:
            passant = bit << U8
    state.castling &= ~(bit | goal)
    turn(state, passant)
    forget_passant(state)
