"""Tables of a run's workers and notes."""

from collections.abc import Callable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from rookery.interface.formatting import count, duration
from rookery.interface.progress import mean_share
from rookery.interface.run_history import Note, RunHistory
from rookery.interface.stats_tail import Line

HEADINGS = 1
TOTAL = 1
NUMBER_WIDTH = 7
"""Smallest width of a column; all columns of trainers fit into 80 characters."""


def least_lines(workers: Sequence[Line]) -> int:
    """Return the smallest useful height: headings, one row, and the sum of several."""
    return HEADINGS + 1 + (TOTAL if len(workers) > 1 else 0)


def all_lines(workers: Sequence[Line]) -> int:
    """Return the height of the complete table."""
    return HEADINGS + len(workers) + (TOTAL if len(workers) > 1 else 0)


def trainer_table(history: RunHistory, lines: int) -> Table:
    """Return a table of the ranks, the slowest if `lines` is too few for all, and their sum."""
    ranks = history.learning["ranks"]
    table = _table("trainer", "device")
    for heading in ("updates", "rows", "rows/s", "comm.", "waited", "sent MB", "MB"):
        _add_numbers(table, heading)
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
    table = _table("actor")
    for heading in ("positions/s", "MB", "failures"):
        _add_numbers(table, heading)
    for worker in _fitting(workers, lines, _health):
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
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    widest = max(len(duration(note.seconds)) for note in notes)
    table.add_column(style="dim", width=widest, justify="right")
    table.add_column(ratio=1, no_wrap=not in_full, overflow="fold" if in_full else "ellipsis")
    for note in notes:
        table.add_row(duration(note.seconds), Text(note.text))
    return table


def _health(worker: Line) -> tuple[int, float]:
    """Return a sort key; lower is worse."""
    return -worker["failures"], worker["positions_per_second"]


def _fitting(workers: Sequence[Line], lines: int, key: Callable[[Line], Any]) -> Sequence[Line]:
    """Return the workers that fit into `lines`: all, or the lowest by `key`."""
    room = lines - (all_lines(workers) - len(workers))
    return workers if room >= len(workers) else sorted(workers, key=key)[:room]


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for heading in headings:
        table.add_column(heading, no_wrap=True)
    return table


def _add_numbers(table: Table, heading: str) -> None:
    table.add_column(heading, justify="right", no_wrap=True, min_width=NUMBER_WIDTH)
