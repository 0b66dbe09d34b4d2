"""Boards as SVG pictures, drawn from the text in which a game shows a position."""

from collections.abc import Iterable, Iterator
from html import escape
from itertools import zip_longest

CELL = 44
"""Pixels of a cell."""
LINE_HEIGHT, CHARACTER_WIDTH = 20, 9
DISCS = {"X": "#c8553d", "O": "#f2c14e"}
EMPTY = ".-_"
FIGURES = dict(zip("kqrbnp", "♚♛♜♝♞♟", strict=True))
"""Chess pieces; upper case letters are white."""
AS_TEXT = "\ufe0e"
"""Follows a figure that must not become a coloured emoji."""
DARK, LIGHT, INK, PAPER = "#8aa29e", "#dfe7e3", "#22313a", "#ffffff"
LABEL = "#74828a"
"""Readable on white and on black: the picture has no background of its own."""


def board_svg(text: str, *, size: tuple[int, int], has_figures: bool = False) -> str:
    """Return a picture of a position that the game shows as `text`.

    X and O become discs. With `has_figures` letters are chess pieces. What is around a board of
    `size` (height, width) names its rows and columns. A text that is not a grid of single
    characters is shown as it is.
    """
    lines = text.rstrip("\n").split("\n")
    if not _is_grid(lines):
        return _text_svg(lines)
    width = max(len(line) for line in lines) // 2 + 1
    shapes = list(_cells(lines, size, has_figures))
    return _svg(width * CELL, len(lines) * CELL, shapes, label=text)


def _is_grid(lines: list[str]) -> bool:
    return all(line[1::2].strip() == "" for line in lines)


def _cells(lines: list[str], size: tuple[int, int], has_figures: bool) -> Iterator[str]:
    signs = [line[::2] for line in lines]
    rows = _without_labels(signs, size[0], range(len(signs)))
    files = ["".join(file) for file in zip_longest(*signs[rows.start : rows.stop], fillvalue=" ")]
    columns = _without_labels(files, size[1], reversed(range(len(files))))
    for row, line in enumerate(signs):
        for column, sign in enumerate(line):
            is_label = row not in rows or column not in columns
            if sign == " ":
                continue
            x, y = column * CELL, row * CELL
            if not is_label:
                yield _square(x, y, is_dark=has_figures and (row + column) % 2 == 0)
            if is_label or not (has_figures or sign in (*DISCS, *EMPTY)):
                yield _sign(x, y, sign, size=15, fill=LABEL)
            elif has_figures and sign not in EMPTY:
                fill = PAPER if sign.isupper() else INK
                yield _sign(x, y, FIGURES[sign.lower()] + AS_TEXT, size=34, fill=fill, stroke=INK)
            elif sign in DISCS:
                centre = f'cx="{x + CELL / 2}" cy="{y + CELL / 2}"'
                yield f'<circle {centre} r="{0.38 * CELL:.1f}" fill="{DISCS[sign]}"/>'


def _without_labels(lines: list[str], count: int, starts: Iterable[int]) -> range:
    """Return the first `count` neighbouring lines around which there are labels alone, or all."""
    for start in starts:
        around = [*lines[:start], *lines[start + count :]]
        if start + count <= len(lines) and all(map(_is_label, around)):
            return range(start, start + count)
    return range(len(lines))


def _is_label(line: str) -> bool:
    """Return whether a line can name rows or columns: no cell is empty, and no sign recurs."""
    signs = line.replace(" ", "")
    return len(set(signs)) == len(signs) and not any(sign in EMPTY for sign in signs)


def _square(x: int, y: int, *, is_dark: bool) -> str:
    fill = DARK if is_dark else LIGHT
    place = f'x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}"'
    return f'<rect {place} rx="4" fill="{fill}"/>'


def _sign(x: int, y: int, sign: str, *, size: int, fill: str, stroke: str = "none") -> str:
    place = f'x="{x + CELL / 2}" y="{y + CELL / 2}" text-anchor="middle"'
    style = f'font-size="{size}" fill="{fill}" stroke="{stroke}" stroke-width="0.7"'
    return f'<text {place} dominant-baseline="central" {style}>{escape(sign)}</text>'


def _text_svg(lines: list[str]) -> str:
    shapes = [
        f'<text x="8" y="{LINE_HEIGHT * (row + 1)}" font-family="monospace" font-size="15" '
        f'xml:space="preserve" fill="{LABEL}">{escape(line)}</text>'
        for row, line in enumerate(lines)
    ]
    width = CHARACTER_WIDTH * max(map(len, lines)) + 16
    return _svg(width, LINE_HEIGHT * (len(lines) + 1), shapes, label="\n".join(lines))


def _svg(width: int, height: int, shapes: list[str], *, label: str) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="sans-serif">'
    return "\n".join([head, f"<title>{escape(label)}</title>", *shapes, "</svg>"])
