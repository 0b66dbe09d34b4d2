"""Boards as SVG pictures, drawn from the text in which a game shows a position."""

from collections.abc import Iterator
from html import escape

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


def board_svg(text: str, *, has_figures: bool = False) -> str:
    """Return a picture of a position that the game shows as `text`.

    X and O become discs. With `has_figures` letters are chess pieces; the first column and the
    last row are labels. A text that is not a grid of single characters is shown as it is.
    """
    lines = text.rstrip("\n").split("\n")
    if not _is_grid(lines):
        return _text_svg(lines)
    width = max(len(line) for line in lines) // 2 + 1
    shapes = list(_cells(lines, has_figures))
    return _svg(width * CELL, len(lines) * CELL, shapes, label=text)


def _is_grid(lines: list[str]) -> bool:
    return all(line[1::2].strip() == "" for line in lines)


def _cells(lines: list[str], has_figures: bool) -> Iterator[str]:
    for row, line in enumerate(lines):
        for column, sign in enumerate(line[::2]):
            is_label = has_figures and (column == 0 or row == len(lines) - 1)
            if sign == " ":
                continue
            x, y = column * CELL, row * CELL
            if not is_label and not _is_label_row(line):
                yield _square(x, y, is_dark=has_figures and (row + column) % 2 == 0)
            if is_label or not (has_figures or sign in (*DISCS, *EMPTY)):
                yield _sign(x, y, sign, size=15, fill=INK, opacity=0.6)
            elif has_figures and sign not in EMPTY:
                fill = PAPER if sign.isupper() else INK
                yield _sign(x, y, FIGURES[sign.lower()] + AS_TEXT, size=34, fill=fill, stroke=INK)
            elif sign in DISCS:
                centre = f'cx="{x + CELL / 2}" cy="{y + CELL / 2}"'
                yield f'<circle {centre} r="{0.38 * CELL:.1f}" fill="{DISCS[sign]}"/>'


def _is_label_row(line: str) -> bool:
    """Return whether a line names the columns, as below a Connect Four board: 1 2 3 ..."""
    names = line[::2].strip()
    return len(names) > 3 and names in "123456789"


def _square(x: int, y: int, *, is_dark: bool) -> str:
    fill = DARK if is_dark else LIGHT
    place = f'x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}"'
    return f'<rect {place} rx="4" fill="{fill}"/>'


def _sign(
    x: int, y: int, sign: str, *, size: int, fill: str, stroke: str = "none", opacity: float = 1
) -> str:
    place = f'x="{x + CELL / 2}" y="{y + CELL / 2}" text-anchor="middle"'
    style = f'font-size="{size}" fill="{fill}" stroke="{stroke}" stroke-width="0.7"'
    return (
        f'<text {place} dominant-baseline="central" {style} opacity="{opacity}">'
        f"{escape(sign)}</text>"
    )


def _text_svg(lines: list[str]) -> str:
    shapes = [
        f'<text x="8" y="{LINE_HEIGHT * (row + 1)}" font-family="monospace" font-size="15" '
        f'xml:space="preserve" fill="{INK}">{escape(line)}</text>'
        for row, line in enumerate(lines)
    ]
    width = CHARACTER_WIDTH * max(map(len, lines)) + 16
    return _svg(width, LINE_HEIGHT * (len(lines) + 1), shapes, label="\n".join(lines))


def _svg(width: int, height: int, shapes: list[str], *, label: str) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="sans-serif">'
    return "\n".join([head, f"<title>{escape(label)}</title>", *shapes, "</svg>"])
