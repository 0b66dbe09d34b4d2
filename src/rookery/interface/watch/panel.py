"""The panel of a run, live or printed once: figures and tables that fit the terminal."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.panel import Panel
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from rookery.interface.formatting import program
from rookery.interface.live_panel import has_live_display, wait_for_resize
from rookery.interface.watch import workers
from rookery.interface.watch.run_status import FINISHED, STOPPED, RunStatus, RunWatcher
from rookery.interface.watch.run_table import run_table

REFRESH_SECONDS = 0.5
HINT = "Ctrl-C stops watching; the run continues"
WIDE = 130
"""Width from which tables are placed next to the figures, not below."""
FRAME_LINES, FRAME_COLUMNS = 2, 4
MAX_NOTES = 6
UNLIMITED_LINES = 10**6


def watch_run(path: Path, console: Console, *, once: bool) -> None:
    """Show the run at `path` until it finishes or Ctrl-C; print once if `once` or no terminal.

    The last panel stays on the screen.
    """
    watcher = RunWatcher(path)
    if has_live_display(console) and not once:
        with suppress(KeyboardInterrupt):
            _follow(watcher, console)
    console.print(RunPanel(watcher.status()))


def _follow(watcher: RunWatcher, console: Console) -> None:
    status = watcher.status()
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while status.state != FINISHED:
            live.update(RunPanel(status, height=console.height, hint=HINT), refresh=True)
            wait_for_resize(console, REFRESH_SECONDS)
            status = watcher.status()


@dataclass(frozen=True)
class Section:
    """A table that fits into any number of lines between `minimum` and `maximum`."""

    minimum: int
    maximum: int
    draw: Callable[[int], RenderableType]


class RunPanel:
    """The status of a run in at most `height` lines; without a height, in full."""

    def __init__(self, status: RunStatus, *, height: int | None = None, hint: str = "") -> None:
        self._status, self._height, self._hint = status, height, hint

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table, width = run_table(self._status), options.max_width - FRAME_COLUMNS
        sections = self._sections()
        if not sections:
            content: RenderableType = table
        elif options.max_width >= WIDE:
            content = _side_by_side(table, draw_all(sections, self._lines_left(0), is_below=False))
        else:
            used = len(console.render_lines(table, options.update(width=width)))
            content = Group(table, *draw_all(sections, self._lines_left(used), is_below=True))
        title = Text(f"{self._status.game} in {self._status.path}", style="bold")
        title.truncate(max(width - 2, 1), overflow="ellipsis")
        subtitle = self._subtitle()
        subtitle.truncate(max(width - 2, 1), overflow="ellipsis")
        if self._height is not None:
            content = Cropped(content, self._lines_left(0))
        yield Panel(content, title=title, title_align="left", subtitle=subtitle or None)

    def _lines_left(self, used: int) -> int:
        return UNLIMITED_LINES if self._height is None else self._height - FRAME_LINES - used

    def _subtitle(self) -> Text:
        if self._status.state == STOPPED:
            path = quote(str(self._status.path))
            return Text(f"to resume: {program()} resume {path}", style="dim")
        return Text(self._hint, style="dim")

    def _sections(self) -> list[Section]:
        """Return the tables of workers and notes, in the order shown."""
        history, sections = self._status.history, []
        if ranks := history.ranks:
            sections.append(_worker_section(ranks, lambda n: workers.trainer_table(history, n)))
            sections.append(_worker_section(ranks, lambda n: workers.health_table(history, n)))
        if pool := history.last.get("actors"):
            actors = pool["workers"]
            sections.append(_worker_section(actors, lambda n: workers.actor_table(actors, n)))
        if notes := list(history.notes)[-MAX_NOTES:]:
            in_full = self._height is None
            sections.append(
                Section(1, len(notes), lambda n: workers.note_table(notes[-n:], in_full=in_full))
            )
        return sections


class Cropped:
    """The first lines of some content, at least one."""

    def __init__(self, content: RenderableType, lines: int) -> None:
        self._content, self._lines = content, max(lines, 1)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in console.render_lines(self._content, options)[: self._lines]:
            yield from line
            yield Segment.line()


def _worker_section(lines: Sequence[object], draw: Callable[[int], RenderableType]) -> Section:
    extra = workers.extra_lines(lines)
    return Section(extra + 1, extra + len(lines), draw)


def _side_by_side(left: RenderableType, right: Sequence[RenderableType]) -> Table:
    grid = Table.grid(Column(ratio=1), Column(ratio=1), padding=(0, 2, 0, 0), expand=True)
    grid.add_row(left, Group(*right))
    return grid


def draw_all(sections: Sequence[Section], lines: int, *, is_below: bool) -> list[RenderableType]:
    """Return the sections that fit into `lines`, with gaps if lines are left.

    Sections shown below other content have a gap above the first one, too.
    """
    heights = share_lines(lines, sections)
    gap = [Text()] if lines - sum(heights) >= len(sections) else []
    shown = [(each, height) for each, height in zip(sections, heights, strict=True) if height]
    parts = [part for each, height in shown for part in (*gap, each.draw(height))]
    return parts[0 if is_below else len(gap) :]


def share_lines(lines: int, sections: Sequence[Section]) -> list[int]:
    """Return the height of every section: its minimum if that fits, then the rest in turn.

    The last sections come first: notes take a line or two, and must not be missed.
    """
    heights = [0] * len(sections)
    for number in reversed(range(len(sections))):
        minimum = sections[number].minimum
        heights[number] = minimum if minimum <= lines else 0
        lines -= heights[number]
    while lines > 0:
        growing = [n for n, each in enumerate(sections) if 0 < heights[n] < each.maximum]
        if not growing:
            break
        for number in growing[:lines]:
            heights[number] += 1
        lines -= len(growing[:lines])
    return heights
