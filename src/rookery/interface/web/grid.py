"""The cells of a position: from `board` of the rules, from their `show`, or from the planes.

A sign is one cell's text; an empty cell has the sign "". Rows run from the top, columns from the
left, and a cell is [x, y].
"""

from dataclasses import dataclass

import numpy as np

from rookery.games import Game, State, plain_name

EMPTY = ("", ".", "-", "_", "·", " ")
LARGEST = 64
"""Cells in a row or column, at most; a larger board is shown as text."""
MIN_NAMED_CELLS = 4
Rows = tuple[tuple[str, ...], ...]
Cell = tuple[int, int]
_names: dict[tuple[str, str], Rows] = {}
"""The names of empty cells, by name and digest of a game."""


@dataclass(frozen=True)
class Grid:
    """The signs of a position, and the names of its rows and columns."""

    rows: Rows
    row_labels: tuple[str, ...] = ()
    column_labels: tuple[str, ...] = ()

    @property
    def height(self) -> int:
        """Number of rows; 0 if the game has no grid."""
        return len(self.rows)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.rows[0]) if self.rows else 0


def grid_of(game: Game, state: State, turn: int) -> Grid:
    """Return the cells of a position; no rows if the game cannot be drawn as a grid."""
    if "board" in game.notation:
        rows = tuple(tuple(map(str, row)) for row in game.notation["board"](state))
        return Grid(_emptied(rows, ()))
    shown = _read(game.show(state), game.planes_shape[1:])
    if shown is not None:
        return Grid(_emptied(shown.rows, _cell_names(game)), shown.row_labels, shown.column_labels)
    return _from_planes(game, state, turn)


def _cell_names(game: Game) -> Rows:
    """Return the names that `show` gives to empty cells: at the start all differ."""
    key = game.name, game.digest
    if key not in _names:
        shown = _read(game.show(game.new_states(1)[0]), game.planes_shape[1:])
        signs = [sign for row in shown.rows for sign in row] if shown else []
        is_named = len(signs) >= MIN_NAMED_CELLS and len(set(signs)) == len(signs)
        _names[key] = shown.rows if shown and is_named else ()
    return _names[key]


def _emptied(rows: Rows, names: Rows) -> Rows:
    def sign(text: str, x: int, y: int) -> str:
        is_empty = text in EMPTY or (names and text == names[y][x])
        return "" if is_empty else text

    return tuple(
        tuple(sign(text, x, y) for x, text in enumerate(row)) for y, row in enumerate(rows)
    )


def _read(text: str, shape: tuple[int, int]) -> Grid | None:
    """Find `shape` (height, width) signs in a text, with labels around them."""
    height, width = shape
    if height * width < 2 or max(shape) > LARGEST:
        return None
    lines = [_signs(line, width) for line in text.rstrip("\n").split("\n")]
    for top in range(len(lines) - height + 1):
        block = lines[top : top + height]
        for labels in (0, 1):
            if all(len(line) == width + labels for line in block):
                below = lines[top + height :][:1] or lines[:top][-1:]
                return Grid(
                    tuple(tuple(line[labels:]) for line in block),
                    tuple(line[0] for line in block) if labels else (),
                    tuple(below[0][-width:]) if below and len(below[0]) >= width else (),
                )
    return None


def _signs(line: str, width: int) -> list[str]:
    """Return the signs of a line: words, or single characters if there are no spaces."""
    words = line.split()
    if len(words) == 1 and len(words[0]) == width > 1:
        return list(words[0])
    return words


def _from_planes(game: Game, state: State, turn: int) -> Grid:
    """Return the grid of a game whose network sees one plane per player, otherwise no rows."""
    number, height, width = game.planes_shape
    if number != 2 or height * width < 2 or max(height, width) > LARGEST:
        return Grid(())
    planes = np.zeros(game.planes_shape, np.float32)
    game.rules.planes(state, planes)
    if (planes.sum(0) > 1).any():
        return Grid(())
    own, other = "XO" if turn == 0 else "OX"
    return Grid(
        tuple(
            tuple(
                own if planes[0, y, x] else other if planes[1, y, x] else "" for x in range(width)
            )
            for y in range(height)
        )
    )


def is_chess(game: Game) -> bool:
    """Whether the letters of the board are chess pieces."""
    return plain_name(game.name) == "chess"
