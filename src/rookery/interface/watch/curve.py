"""Renderables that adapt to the width they are given: curves, and figures in a row."""

from collections.abc import Sequence
from itertools import pairwise

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.text import Text

BLOCKS = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
"""Eighths of a cell, from the lowest."""
ASCII_BLOCKS = "_.-=+*%#"
GAP = "  "


class Curve:
    """Numbers as a row of bars, scaled from the lowest to the highest; a cell shows a mean."""

    def __init__(self, numbers: Sequence[float], *, style: str = "") -> None:
        self._numbers, self._style = numbers, style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        blocks = ASCII_BLOCKS if options.ascii_only else BLOCKS
        means = shrink(self._numbers, options.max_width)
        low, high = min(means, default=0.0), max(means, default=0.0)
        step = (high - low) / (len(blocks) - 1) or 1.0
        bars = "".join(blocks[round((number - low) / step)] for number in means)
        yield Segment(bars, console.get_style(self._style))
        yield Segment.line()

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, max(1, min(len(self._numbers), options.max_width)))


def shrink(numbers: Sequence[float], size: int) -> list[float]:
    """Return at most `size` numbers, each the mean of an equal part of `numbers`."""
    if len(numbers) <= size:
        return list(numbers)
    edges = [part * len(numbers) // size for part in range(size + 1)]
    parts = [numbers[low:high] for low, high in pairwise(edges)]
    return [sum(part) / len(part) for part in parts]


class Flow:
    """Figures in a row; lines break between figures, never inside one."""

    def __init__(self, *figures: str) -> None:
        self._figures = figures

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = ""
        for figure in self._figures:
            longer = f"{line}{GAP}{figure}" if line else figure
            if line and len(longer) > options.max_width:
                yield Text(line)
                longer = figure
            line = longer
        yield Text(line)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        longest = max(map(len, self._figures), default=0)
        total = sum(map(len, self._figures)) + len(GAP) * len(self._figures)
        return Measurement(min(longest, options.max_width), min(total, options.max_width))
