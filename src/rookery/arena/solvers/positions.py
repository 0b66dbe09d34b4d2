"""Connect Four positions with the exact score of every move, in six groups, as packaged data.

A group is named by the number of plies played and the number of plies to the end under perfect
play (the fastest win, the slowest loss). The board holds 42 stones, so three combinations are
empty.

    plies played     begin  up to 14    middle  15 to 28    end   from 29
    plies to the end  easy  up to 13    medium  14 to 27    hard  from 28

A line of the file is `group moves s1 s2 s3 s4 s5 s6 s7`: the columns played so far, then the
score of each move as defined in `solvers.connect4`, x for a full column. `#` starts a comment.
"""

from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class SolvedPosition:
    """A position and the exact scores of its seven moves."""

    group: str
    moves: str
    """The moves that lead to the position, as columns 1 to 7."""
    scores: tuple[int | None, ...]
    """For the player to move; None if the column is full."""


def load_positions() -> tuple[SolvedPosition, ...]:
    """Return the positions that ship with Rookery, group by group."""
    path = files("rookery.arena") / "data" / "connect4_positions.txt"
    return read_positions(path.read_text("ascii"))


def read_positions(text: str) -> tuple[SolvedPosition, ...]:
    """Return the positions in the text of such a file."""
    return tuple(read_line(line) for line in text.splitlines() if not line.startswith("#"))


def read_line(line: str) -> SolvedPosition:
    """Return the position in a line of the file."""
    group, moves, *scores = line.split()
    return SolvedPosition(group, moves, tuple(None if s == "x" else int(s) for s in scores))
