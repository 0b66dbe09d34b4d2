"""Chess with earlier positions in its planes: `chess:history=3` has three of them.

The rules are the same, compiled for a longer record. Earlier boards are stored as the player to
move sees them now, so they are flipped with every move, like the board itself.
"""

import re
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, UnknownName, compiled
from rookery.games.chess.attacks import U1, U, flip_vertical
from rookery.games.chess.moves import play as play_current
from rookery.games.chess.notation import read_position as read_current
from rookery.games.chess.position import PLANES, STATE, write_plane
from rookery.games.chess.position import planes as write_current
from rookery.games.chess.position import start as start_current
from rookery.games.game import State

OPTION = re.compile(r"history=([1-8])")
KINDS = 6
OWN, REPEATED, WORDS = 6, 7, 8
"""Words of an earlier position: six kinds of pieces, own pieces, whether it was a repetition."""
PLANES_PER_POSITION = 2 * KINDS + 1


def with_option(plain: ModuleType, option: str) -> ModuleType:
    """Return the rules of `plain` chess with an option such as `history=3`."""
    found = OPTION.fullmatch(option)
    if found is None:
        raise UnknownName("variant of chess:", option, [f"history={n}" for n in range(1, 9)])
    count = int(found[1])
    module = ModuleType(f"{plain.__name__}.history_{count}", __doc__)
    names = {name: value for name, value in vars(plain).items() if not name.startswith("_")}
    vars(module).update(
        {**names, **_functions(count)},
        __file__=__file__,
        NAME=f"{plain.NAME}:history={count}",
        STATE=_with_past(STATE, count),
        PLANES=(PLANES[0] + PLANES_PER_POSITION * count, *PLANES[1:]),
    )
    return module


def _with_past(dtype: np.dtype[np.void], count: int) -> np.dtype[np.void]:
    """Return the record with `past` in front; at the end, Numba would confuse the two records."""
    assert dtype.fields is not None
    fields = [(name, field[0]) for name, field in dtype.fields.items()]
    return np.dtype([("past", np.uint64, (count, WORDS)), *fields], align=True)


@compiled
def flip_past(past: NDArray[np.uint64], index: Index, before: Index) -> None:
    """Write earlier position `before` as the other player sees it into `index`."""
    occupied = U(0)
    for kind in range(KINDS):
        occupied |= past[before, kind]
    for kind in range(KINDS):
        past[index, kind] = flip_vertical(past[before, kind])
    past[index, OWN] = flip_vertical(occupied & ~past[before, OWN])
    past[index, REPEATED] = past[before, REPEATED]


@compiled
def store_current(past: NDArray[np.uint64], state: State) -> None:
    """Store the current board as the latest of the earlier positions."""
    past[0, 0], past[0, 1], past[0, 2] = state.pawns, state.knights, state.bishops
    past[0, 3], past[0, 4], past[0, 5] = state.rooks, state.queens, state.kings
    past[0, OWN] = state.own
    past[0, REPEATED] = U1 if state.repeats > 0 else U(0)


@compiled
def write_past(past: NDArray[np.uint64], index: Index, out: NDArray[np.float32]) -> None:
    """Write the planes of earlier position `index`: own pieces, the opponent's, repetition."""
    first, own = PLANES[0] + PLANES_PER_POSITION * index, past[index, OWN]
    for kind in range(KINDS):
        write_plane(out, first + kind, past[index, kind] & own)
        write_plane(out, first + KINDS + kind, past[index, kind] & ~own)
    out[first + 2 * KINDS] = np.float32(past[index, REPEATED])


def _functions(count: int) -> dict[str, object]:
    """Return the functions of the rules that depend on the history."""

    @compiled
    def start(state: State) -> None:
        start_current(state)
        state.past[:] = U(0)

    @compiled
    def play(state: State, action: Index) -> None:
        past = state.past
        for index in range(count - 1, 0, -1):
            flip_past(past, index, index - 1)
        store_current(past, state)
        flip_past(past, 0, 0)
        play_current(state, action)

    @compiled
    def planes(state: State, out: NDArray[np.float32]) -> None:
        write_current(state, out)
        for index in range(count):
            write_past(state.past, index, out)

    def read_position(state: State, text: str) -> None:
        state.past[:] = 0
        read_current(state, text, play)

    return {"start": start, "play": play, "planes": planes, "read_position": read_position}
