"""A chess position as one flat record: first position, planes, and key for repetitions."""

import numpy as np
from numpy.typing import NDArray

from rookery.base import Bits, Index, compiled
from rookery.games.chess.attacks import U1, U
from rookery.games.chess.moves import FIFTY_MOVES
from rookery.games.game import State

STATE = np.dtype(
    [
        ("pawns", np.uint64),  # of both players, like all pieces
        ("knights", np.uint64),
        ("bishops", np.uint64),
        ("rooks", np.uint64),
        ("queens", np.uint64),
        ("kings", np.uint64),
        ("own", np.uint64),  # pieces of the player to move, who starts on the lower ranks
        ("castling", np.uint64),  # rooks that can still castle
        ("passant", np.uint64),  # en passant square, if a pawn can capture there
        ("ply", np.uint32),  # moves made by both players
        ("clock", np.uint16),  # plies since the last pawn move or capture
        ("repeats", np.uint8),  # earlier occurrences of the position
        ("black", np.uint8),  # whether black is to move
    ],
    align=True,
)
PLANES = (16, 8, 8)
CASTLING, PASSANT, CLOCK, REPEATED = 12, 13, 14, 15

MULTIPLIER, SHIFT = U(0x9E3779B97F4A7C15), U(29)


@compiled
def start(state: State) -> None:
    state.pawns, state.knights = U(0x00FF00000000FF00), U(0x4200000000000042)
    state.bishops, state.rooks = U(0x2400000000000024), U(0x8100000000000081)
    state.queens, state.kings = U(0x0800000000000008), U(0x1000000000000010)
    state.own = U(0xFFFF)
    state.castling, state.passant = U(0x8100000000000081), U(0)
    state.ply = state.clock = state.repeats = state.black = 0


@compiled
def mix(hashed: Bits, word: Bits) -> Bits:
    hashed = (hashed ^ word) * MULTIPLIER
    return hashed ^ (hashed >> SHIFT)


@compiled
def key(state: State) -> Bits:
    """Return a hash that is equal for positions that are the same under the repetition rule."""
    hashed = mix(mix(U(state.black), state.pawns), state.knights)
    hashed = mix(mix(hashed, state.bishops), state.rooks)
    hashed = mix(mix(hashed, state.queens), state.kings)
    return mix(mix(mix(hashed, state.own), state.castling), state.passant)


@compiled
def reversible_plies(state: State) -> Index:
    """Return the number of plies since the last irreversible move."""
    return np.int64(state.clock)


@compiled
def set_repetitions(state: State, times: Index) -> None:
    """Store the number of earlier occurrences of the position."""
    state.repeats = times


@compiled
def write_plane(out: NDArray[np.float32], plane: Index, squares: Bits) -> None:
    """Write a bitboard, the highest rank first."""
    for rank in range(8):
        for file in range(8):
            out[plane, 7 - rank, file] = squares >> U(8 * rank + file) & U1


@compiled
def planes(state: State, out: NDArray[np.float32]) -> None:
    own = state.own
    for side in range(2):
        write_plane(out, 6 * side, state.pawns & own)
        write_plane(out, 6 * side + 1, state.knights & own)
        write_plane(out, 6 * side + 2, state.bishops & own)
        write_plane(out, 6 * side + 3, state.rooks & own)
        write_plane(out, 6 * side + 4, state.queens & own)
        write_plane(out, 6 * side + 5, state.kings & own)
        own = ~own
    write_plane(out, CASTLING, state.castling)
    write_plane(out, PASSANT, state.passant)
    out[CLOCK] = np.float32(state.clock) / np.float32(FIFTY_MOVES)
    out[REPEATED] = np.float32(state.repeats > 0)
