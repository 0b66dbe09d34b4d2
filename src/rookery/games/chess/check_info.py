"""What the player to move must heed: squares under attack, checks and pins.

The board is always seen by the player to move, whose pawns walk towards higher squares.
"""

from typing import NamedTuple

from rookery.base import Bits, compiled, highest, lowest
from rookery.games.chess.attacks import (
    ALL,
    U0,
    U1,
    U8,
    beside,
    diagonal_floods,
    king_attacks,
    knight_attacks,
    line,
    straight_floods,
)
from rookery.games.game import State


class CheckInfo(NamedTuple):
    """What `look` finds. A move that does not heed it is not legal."""

    occupied: Bits
    danger: Bits
    """Squares the king may not enter."""
    targets: Bits
    """Squares where another piece ends a check: all of them if there is none."""
    straight_pins: Bits
    """Lines to the king, on ranks and files, that hold one pinned piece each."""
    diagonal_pins: Bits
    jumpers: Bits
    """Pawns and knights that give check."""


@compiled
def occupied_squares(state: State) -> Bits:
    minors = state.knights | state.bishops
    return state.pawns | minors | state.rooks | state.queens | state.kings


@compiled
def attacked(state: State, occupied: Bits) -> Bits:
    """Every square that the waiting player attacks, over `occupied`."""
    foe, free = occupied_squares(state) & ~state.own, ~occupied
    found = beside((state.pawns & foe) >> U8)
    found |= knight_attacks(state.knights & foe) | king_attacks(state.kings & foe)
    found |= straight_floods((state.rooks | state.queens) & foe, free)
    return found | diagonal_floods((state.bishops | state.queens) & foe, free)


@compiled
def scan_up(part: Bits, occupied: Bits, own: Bits, threat: Bits) -> tuple[Bits, Bits]:
    """The squares that stop a check, and those of a pin, on the king's line towards h8."""
    hit = part & occupied
    first = hit & (~hit + U1)
    if first & threat:
        return part & (first | (first - U1)), U0
    hit ^= first
    second = hit & (~hit + U1)
    if first & own and second & threat:
        return ALL, part & (second | (second - U1))
    return ALL, U0


@compiled
def scan_down(part: Bits, occupied: Bits, own: Bits, threat: Bits) -> tuple[Bits, Bits]:
    """The same towards a1; `hit` always holds a bit, so that there is a highest one."""
    hit = part & occupied
    if not hit & threat:
        return ALL, U0
    first = U1 << highest(hit)
    if first & threat:
        return part & ~(first - U1), U0
    hit ^= first
    second = U1 << highest(hit)
    if first & own and second & threat:
        return ALL, part & ~(second - U1)
    return ALL, U0


@compiled
def scan(state: State, occupied: Bits, king: Bits, way: int) -> tuple[Bits, Bits]:
    """The squares that stop a slider's check along one line, and those of pins."""
    foe = occupied & ~state.own
    threat = ((state.rooks if way < 2 else state.bishops) | state.queens) & foe
    ray = line(lowest(king), way)
    if not ray & threat:
        return ALL, U0
    upper = ray & ~(king | (king - U1))
    stops, pins = scan_up(upper, occupied, state.own, threat)
    more_stops, more_pins = scan_down(ray & (king - U1), occupied, state.own, threat)
    return stops & more_stops, pins | more_pins


@compiled
def look(state: State) -> CheckInfo:
    """All that legality depends on."""
    occupied, king = occupied_squares(state), state.kings & state.own
    foe = occupied & ~state.own
    jumpers = beside(king << U8) & state.pawns & foe | knight_attacks(king) & state.knights & foe
    ranks, rank_pins = scan(state, occupied, king, 0)
    files, file_pins = scan(state, occupied, king, 1)
    rising, rising_pins = scan(state, occupied, king, 2)
    falling, falling_pins = scan(state, occupied, king, 3)
    targets = ranks & files & rising & falling & (jumpers if jumpers else ALL)
    return CheckInfo(
        occupied,
        attacked(state, occupied ^ king),
        targets,
        rank_pins | file_pins,
        rising_pins | falling_pins,
        jumpers,
    )


@compiled
def is_check(state: State) -> bool:
    """Whether the mover's king is attacked."""
    return bool(attacked(state, occupied_squares(state)) & state.kings & state.own)
