"""Tables of a run's workers and notes."""

from collections.abc import Callable, Sequence
from typing import Any

from rich.table import Column, Table
from rich.text import Text

from rookery.interface.formatting import count, duration
from rookery.interface.progress import mean_share
from rookery.interface.run_history import Note, RunHistory
from rookery.interface.stats_tail import Line

NUMBER_WIDTH = 7
"""Smallest width of a column; all columns of trainers fit into 80 characters."""


def extra_lines(workers: Sequence[Line]) -> int:
    """Return the lines of a table besides those of single workers: headings, sum of several."""
    return 2 if len(workers) > 1 else 1


def trainer_table(history: RunHistory, lines: int) -> Table:
    """Return a table of the ranks, the slowest if `lines` is too few for all, and their sum."""
    ranks = history.learning["ranks"]
    numbers = ("updates", "rows", "rows/s", "comm.", "waited", "sent MB", "MB")
    table = _table("trainer", "device", numbers=numbers)
    for rank in _fitting(ranks, lines, lambda rank: rank["rows_per_second"]):
        table.add_row(rank["name"], rank["device"], count(rank["updates"]), *_rank_cells([rank]))
    if len(ranks) > 1:
        updates = count(history.learning["updates"])
        table.add_row(f"all {len(ranks)}", "", updates, *_rank_cells(ranks), style="bold")
    return table


def _rank_cells(ranks: Sequence[Line]) -> list[str]:
    """Return the cells of one or several ranks: sums, and means of shares of time."""
    rows, rate, sent, memory = (
        count(sum(rank[name] for rank in ranks))
        for name in ("rows", "rows_per_second", "sent_mb", "memory_mb")
    )
    communication, waited = (
        mean_share([rank[name] for rank in ranks]) for name in ("communication", "waited")
    )
    return [rows, rate, communication, waited, sent, memory]


def actor_table(workers: Sequence[Line], lines: int) -> Table:
    """Return a table of the actors, the worst if `lines` is too few for all, and their sum."""
    table = _table("actor", numbers=("positions/s", "MB", "failures"))
    for worker in _fitting(workers, lines, lambda w: (-w["failures"], w["positions_per_second"])):
        style = "yellow" if worker["failures"] else ""
        table.add_row(worker["name"], *_actor_cells([worker]), style=style)
    if len(workers) > 1:
        table.add_row(f"all {len(workers)}", *_actor_cells(workers), style="bold")
    return table


def _actor_cells(workers: Sequence[Line]) -> list[str]:
    names = ("positions_per_second", "memory_mb", "failures")
    return [count(sum(worker[name] for worker in workers)) for name in names]


def note_table(notes: Sequence[Note], *, in_full: bool) -> Table:
    """Return a table of notes, each cut to one line or in full."""
    widest = max(len(duration(note.seconds)) for note in notes)
    left = Column(style="dim", width=widest, justify="right")
    text = Column(ratio=1, no_wrap=not in_full, overflow="fold" if in_full else "ellipsis")
    table = Table.grid(left, text, padding=(0, 2, 0, 0), expand=True)
    for note in notes:
        table.add_row(duration(note.seconds), Text(note.text))
    return table


def _fitting(workers: Sequence[Line], lines: int, key: Callable[[Line], Any]) -> Sequence[Line]:
    """Return the workers that fit into `lines`: all, or the lowest by `key`."""
    room = lines - extra_lines(workers)
    return workers if room >= len(workers) else sorted(workers, key=key)[:room]


def _table(*headings: str, numbers: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for heading in headings:
        table.add_column(heading, no_wrap=True)
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True, min_width=NUMBER_WIDTH)
    return table
