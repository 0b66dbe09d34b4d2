"""The limits of `go`: how long to search, and which moves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

NUMBERS = ("nodes", "movetime", "depth", "mate", "wtime", "btime", "winc", "binc", "movestogo")
FLAGS = ("infinite", "ponder")
MOVES = "searchmoves"
KEYWORDS = (*NUMBERS, *FLAGS, MOVES)

MOVES_LEFT = 30
"""Moves that share the clock, unless `movestogo` is given."""
INCREMENT_SHARE = 0.75
LARGEST_SHARE = 0.5
"""Largest share of the remaining time for one move."""


@dataclass(frozen=True)
class Limits:
    """When a search must end; None means no such limit.

    The fields have the names of UCI; times are in milliseconds.
    """

    nodes: int | None = None
    movetime: int | None = None
    depth: int | None = None
    mate: int | None = None
    wtime: int | None = None
    btime: int | None = None
    winc: int | None = None
    binc: int | None = None
    movestogo: int | None = None
    infinite: bool = False
    ponder: bool = False
    moves: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether only `stop` ends the search."""
        ends = (self.nodes, self.movetime, self.depth, self.mate, self.wtime, self.btime)
        return self.infinite or all(end is None for end in ends)

    def seconds(self, *, is_black: bool, overhead: int) -> float | None:
        """Return the time for this move less `overhead` milliseconds; None without a limit."""
        if self.movetime is not None:
            return max(0, self.movetime - overhead) / 1000
        left = self.btime if is_black else self.wtime
        if left is None:
            return None
        usable = max(0, left - overhead)
        moves = min(self.movestogo or MOVES_LEFT, MOVES_LEFT)
        increment = (self.binc if is_black else self.winc) or 0
        share = usable / moves + INCREMENT_SHARE * increment
        return min(share, LARGEST_SHARE * usable) / 1000


def read_limits(words: Sequence[str]) -> tuple[Limits, list[str]]:
    """Return the limits that follow `go`, and the words that were not understood."""
    found, unknown, moves = dict[str, Any](), list[str](), list[str]()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in FLAGS:
            found[word] = True
        elif word in NUMBERS and rest and _is_number(rest[0]):
            found[word] = int(rest.pop(0))
        elif word == MOVES:
            while rest and rest[0] not in KEYWORDS:
                moves.append(rest.pop(0))
        else:
            unknown.append(word)
    return Limits(**found, moves=tuple(moves)), unknown


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and len(text) < 12
