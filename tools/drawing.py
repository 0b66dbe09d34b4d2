"""SVG pictures of boxes, arrows and text on a light card, readable on light and dark pages."""

from collections.abc import Sequence
from html import escape

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
INK, GREY, LINE, CARD = "#22313a", "#5b6b73", "#8a9aa1", "#ffffff"
TEAL, BLUE, ORANGE, PINK, PALE = "#cfe8e4", "#d5e5f5", "#fbe3c8", "#f3d9e8", "#eef2f3"
STRONG = {TEAL: "#00796b", BLUE: "#0072b2", ORANGE: "#b85600", PINK: "#a4457c", PALE: GREY}
"""The border of a box by its colour; text on the boxes has a contrast of 4.5 or more."""
LINE_HEIGHT = 18
Point = tuple[float, float]


class Drawing:
    """A picture that grows shape by shape."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self._width, self._height, self._title = width, height, title
        self._shapes: list[str] = []

    def text(
        self,
        at: Point,
        text: str,
        *,
        size: int = 14,
        fill: str = INK,
        anchor: str = "middle",
        bold: bool = False,
    ) -> None:
        """Write `text`, whose lines are centred around `at`."""
        lines = text.split("\n")
        top = at[1] - (len(lines) - 1) * LINE_HEIGHT / 2
        weight = ' font-weight="600"' if bold else ""
        for number, line in enumerate(lines):
            y = top + number * LINE_HEIGHT
            self._shapes.append(
                f'<text x="{at[0]:g}" y="{y:g}" font-size="{size}" fill="{fill}" '
                f'text-anchor="{anchor}" dominant-baseline="central"{weight}>{escape(line)}</text>'
            )

    def box(
        self,
        corner: Point,
        size: Point,
        text: str = "",
        *,
        fill: str = PALE,
        bold: bool = False,
        is_dashed: bool = False,
    ) -> None:
        """Draw a rounded box with text in its middle."""
        dashes = ' stroke-dasharray="5 4"' if is_dashed else ""
        self._shapes.append(
            f'<rect x="{corner[0]:g}" y="{corner[1]:g}" width="{size[0]:g}" height="{size[1]:g}" '
            f'rx="6" fill="{fill}" stroke="{STRONG.get(fill, LINE)}"{dashes}/>'
        )
        if text:
            self.text((corner[0] + size[0] / 2, corner[1] + size[1] / 2), text, bold=bold)

    def circle(
        self, at: Point, radius: float, *, fill: str = PALE, is_dashed: bool = False
    ) -> None:
        """Draw a circle."""
        dashes = ' stroke-dasharray="3 3"' if is_dashed else ""
        self._shapes.append(
            f'<circle cx="{at[0]:g}" cy="{at[1]:g}" r="{radius:g}" fill="{fill}" '
            f'stroke="{STRONG.get(fill, LINE)}"{dashes}/>'
        )

    def line(
        self,
        points: Sequence[Point],
        *,
        colour: str = LINE,
        width: float = 1.5,
        has_tip: bool = False,
        is_dashed: bool = False,
    ) -> None:
        """Draw a line through `points`, with an arrow at its end if `has_tip`."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        dashes = ' stroke-dasharray="5 4"' if is_dashed else ""
        self._shapes.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"'
            f"{dashes}/>"
        )
        if has_tip:
            self._tip(points[-2], points[-1], colour)

    def arrow(self, *points: Point, colour: str = GREY, is_dashed: bool = False) -> None:
        """Draw an arrow through `points`."""
        self.line(points, colour=colour, width=1.8, has_tip=True, is_dashed=is_dashed)

    def _tip(self, start: Point, end: Point, colour: str) -> None:
        (x0, y0), (x, y) = start, end
        length = ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5
        u, v = (x - x0) / length, (y - y0) / length
        sides = [(x - 9 * u + side * v, y - 9 * v - side * u) for side in (-4.5, 4.5)]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in ((x, y), *sides))
        self._shapes.append(f'<polygon points="{path}" fill="{colour}"/>')

    def svg(self) -> str:
        """Return the picture as the content of an SVG file."""
        size = f"{self._width} {self._height}"
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
            f'width="{self._width}" height="{self._height}" role="img" font-family="{FONT}">'
        )
        card = (
            f'<rect x="0.5" y="0.5" width="{self._width - 1}" height="{self._height - 1}" rx="10" '
            f'fill="{CARD}" stroke="#d5dcdf"/>'
        )
        title = f"<title>{escape(self._title)}</title>"
        return "\n".join([head, title, card, *self._shapes, "</svg>"]) + "\n"
