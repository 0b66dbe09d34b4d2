"""The panel of a run: figures and tables, arranged for the terminal's width and height."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from shlex import quote

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from rookery.interface.formatting import program
from rookery.interface.watch import workers
from rookery.interface.watch.figures import figures
from rookery.interface.watch.run_status import STOPPED, RunStatus
from rookery.interface.watch.stats_tail import Line

WIDE = 130
"""Columns from which tables stand beside the figures, not below."""
FRAME_LINES, FRAME_COLUMNS = 2, 4
MOST_NOTES = 6
NO_END = 10**6


@dataclass(frozen=True)
class Section:
    """A table that takes as many lines as it is given, between `least` and `most`."""

    least: int
    most: int
    draw: Callable[[int], RenderableType]


class RunPanel:
    """A run as it stands, in at most `height` lines, or in as many as it takes."""

    def __init__(self, standing: RunStatus, *, height: int | None = None, hint: str = "") -> None:
        self._standing, self._height, self._hint = standing, height, hint

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        known, width = figures(self._standing), options.max_width - FRAME_COLUMNS
        sections = self._sections()
        if not sections:
            content: RenderableType = known
        elif options.max_width >= WIDE:
            content = _beside(known, draw_all(sections, self._room(0), is_below=False))
        else:
            used = len(console.render_lines(known, options.update(width=width)))
            content = Group(known, *draw_all(sections, self._room(used), is_below=True))
        title = Text(f"{self._standing.game} in {self._standing.path}", style="bold")
        title.truncate(width - 2, overflow="ellipsis")
        yield Panel(content, title=title, title_align="left", subtitle=self._subtitle())

    def _room(self, used: int) -> int:
        return NO_END if self._height is None else self._height - FRAME_LINES - used

    def _subtitle(self) -> Text | None:
        if self._standing.state == STOPPED:
            path = quote(str(self._standing.path))
            return Text(f"to go on: {program()} resume {path}", style="dim")
        return Text(self._hint, style="dim") if self._hint else None

    def _sections(self) -> list[Section]:
        """What there is beside figures, in the order in which it is shown."""
        story, sections = self._standing.story, []
        if ranks := story.learning.get("ranks"):
            sections.append(_of_workers(ranks, lambda n: workers.trainer_table(story, n)))
        if crew := story.turn.get("crew"):
            actors = crew["workers"]
            sections.append(_of_workers(actors, lambda n: workers.actor_table(actors, n)))
        if notes := list(story.notes)[-MOST_NOTES:]:
            in_full = self._height is None
            sections.append(
                Section(1, len(notes), lambda n: workers.note_table(notes[-n:], in_full=in_full))
            )
        return sections


def _of_workers(lines: Sequence[Line], draw: Callable[[int], RenderableType]) -> Section:
    return Section(workers.least_lines(lines), workers.all_lines(lines), draw)


def _beside(known: RenderableType, tables: Sequence[RenderableType]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0), expand=True)
    grid.add_column(ratio=1)
    grid.add_column(ratio=1)
    grid.add_row(known, Group(*tables))
    return grid


def draw_all(sections: Sequence[Section], room: int, *, is_below: bool) -> list[RenderableType]:
    """The sections that fit into so many lines, with gaps where there are lines to spare.

    One goes above the first of them too, if they are shown below something.
    """
    given = share_out(room, sections)
    gap = [Text()] if room - sum(given) >= len(sections) else []
    shown = [(each, lines) for each, lines in zip(sections, given, strict=True) if lines]
    parts = [part for each, lines in shown for part in (*gap, each.draw(lines))]
    return parts[0 if is_below else len(gap) :]


def share_out(room: int, sections: Sequence[Section]) -> list[int]:
    """Lines for every section: its least, if there is room, and the rest by turns.

    The last sections are asked first: notes, in a line or two, must not be missed.
    """
    given = [0] * len(sections)
    for number in reversed(range(len(sections))):
        least = sections[number].least
        given[number] = least if least <= room else 0
        room -= given[number]
    while room > 0:
        hungry = [n for n, each in enumerate(sections) if 0 < given[n] < each.most]
        if not hungry:
            break
        for number in hungry[:room]:
            given[number] += 1
        room -= len(hungry[:room])
    return given
