"""Text for people: numbers, moves, tables and the console."""

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from rookery.interface.printable import printable

if TYPE_CHECKING:
    from rookery.arena import RatingEstimate

CUT = {ord("\u2026"): "~"}
"""The mark of cut text in ASCII."""


class Screen(Console):
    """A console that shows control characters in texts as escapes."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return `text` for printing."""
        return super().render_str(printable(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the parts of `renderable`, whose texts may not have passed `render_str`."""
        is_ascii = self.options.ascii_only
        for text, style, control in super().render(renderable, options):
            shown = text if control else printable(text.translate(CUT) if is_ascii else text)
            yield Segment(shown, style, control)


def screen() -> Screen:
    """Return a console on stdout that takes brackets in names literally."""
    return Screen(highlight=False, markup=False)


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Show that `what` takes a while, on stderr if it is a terminal, until the context ends."""
    console = Console(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal:
        yield
        return
    spinner = "line" if console.options.ascii_only else "dots"
    with console.status(f"{what} ...", spinner=spinner):
        yield


def new_table(*headings: str, numbers: Sequence[str] = (), title: str | None = None) -> Table:
    """Return a table with a line under its headings; columns of `numbers` are right-aligned."""
    table = Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, show_edge=False, pad_edge=False
    )
    for heading in headings:
        table.add_column(heading)
    for heading in numbers:
        table.add_column(heading, justify="right")
    return table


def count(number: float) -> str:
    """Format 12345.6 as 12,346."""
    return f"{number:,.0f}"


def counted(number: int, noun: str) -> str:
    """Format a number of things, as in 1 game and 12,345 games."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """Format 75 as 1:15 and 3675 as 1:01:15."""
    whole = int(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def program() -> str:
    """Return the command that runs Rookery: its name, or the path it was started with."""
    if shutil.which("rookery"):
        return "rookery"
    started = Path(sys.argv[0])
    return str(started) if started.name == "rookery" else "python -m rookery"


def tenths(share: float) -> str:
    """Format 7.25 as 7.2; a small positive number is <0.1, not 0.0."""
    return "<0.1" if 0 < share < 0.05 else f"{share:.1f}"


def percent(share: float) -> str:
    """Format 7.25 as 7.2 %."""
    return f"{tenths(share)} %"


def rating(estimate: "RatingEstimate") -> str:
    """Format a rating with its 95 % interval."""
    return f"{estimate.elo:.0f} (95 % interval {interval(estimate)})"


def interval(estimate: "RatingEstimate") -> str:
    """Format the 95 % interval of a rating; an unbounded end is a question mark."""
    low, high = (f"{end:.0f}" if isfinite(end) else "?" for end in (estimate.low, estimate.high))
    return f"{low} to {high}"


def elo(difference: float) -> str:
    """Format an Elo difference with its sign; it is infinite if every game was won or lost."""
    if not isfinite(difference):
        return "+inf" if difference > 0 else "-inf"
    return f"{difference:+.0f}"
