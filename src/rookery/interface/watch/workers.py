"""Tables of who works for a run, one by one, and what happened to them."""

from collections.abc import Callable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from rookery.interface.formatting import count, duration
from rookery.interface.progress import mean_share
from rookery.interface.watch.run_history import Note, RunHistory
from rookery.interface.watch.stats_tail import Line

HEADINGS = 1
SUM = 1
NUMBER_WIDTH = 7
"""Of a column, at least: all columns of trainers fit into 80 beside each other."""


def least_lines(workers: Sequence[Line]) -> int:
    """Lines below which a table says nothing: headings, a row, and the sum of several."""
    return HEADINGS + 1 + (SUM if len(workers) > 1 else 0)


def all_lines(workers: Sequence[Line]) -> int:
    """Lines of the whole table."""
    return HEADINGS + len(workers) + (SUM if len(workers) > 1 else 0)


def trainer_table(story: RunHistory, lines: int) -> Table:
    """The ranks that learn; the slowest where `lines` have no room for all, and the sum."""
    ranks = story.learning["ranks"]
    table = _table("trainer", "device")
    for heading in ("updates", "rows", "rows/s", "comm.", "waited", "sent MB", "MB"):
        _add_numbers(table, heading)
    for rank in _chosen(ranks, lines, lambda rank: rank["rows_per_second"]):
        table.add_row(rank["name"], rank["device"], count(rank["updates"]), *_rank_figures([rank]))
    if len(ranks) > 1:
        updates = count(story.learning["updates"])
        table.add_row(f"all {len(ranks)}", "", updates, *_rank_figures(ranks), style="bold")
    return table


def _rank_figures(ranks: Sequence[Line]) -> list[str]:
    """Of one rank or of several together: sums, and means of what is a share of time."""
    rows, rate, sent, memory = (
        count(sum(rank[name] for rank in ranks))
        for name in ("rows", "rows_per_second", "sent_mb", "memory_mb")
    )
    talked, waited = (
        mean_share([rank[name] for rank in ranks]) for name in ("communication", "waited")
    )
    return [rows, rate, talked, waited, sent, memory]


def actor_table(workers: Sequence[Line], lines: int) -> Table:
    """The actors that play; the worst where `lines` have no room for all, and the sum."""
    table = _table("actor")
    for heading in ("positions/s", "MB", "failures"):
        _add_numbers(table, heading)
    for worker in _chosen(workers, lines, _health):
        style = "yellow" if worker["failures"] else ""
        table.add_row(worker["name"], *_actor_figures([worker]), style=style)
    if len(workers) > 1:
        table.add_row(f"all {len(workers)}", *_actor_figures(workers), style="bold")
    return table


def _actor_figures(workers: Sequence[Line]) -> list[str]:
    names = ("positions_per_second", "memory_mb", "failures")
    return [count(sum(worker[name] for worker in workers)) for name in names]


def note_table(notes: Sequence[Note], *, in_full: bool) -> Table:
    """Notes, each cut to one line or in full."""
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    widest = max(len(duration(note.seconds)) for note in notes)
    table.add_column(style="dim", width=widest, justify="right")
    table.add_column(ratio=1, no_wrap=not in_full, overflow="fold" if in_full else "ellipsis")
    for note in notes:
        table.add_row(duration(note.seconds), Text(note.text))
    return table


def _health(worker: Line) -> tuple[int, float]:
    """Lower is worse."""
    return -worker["failures"], worker["positions_per_second"]


def _chosen(workers: Sequence[Line], lines: int, key: Callable[[Line], Any]) -> Sequence[Line]:
    """Whose rows so many lines have room for: everybody's, or those of the lowest by `key`."""
    room = lines - (all_lines(workers) - len(workers))
    return workers if room >= len(workers) else sorted(workers, key=key)[:room]


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for heading in headings:
        table.add_column(heading, no_wrap=True)
    return table


def _add_numbers(table: Table, heading: str) -> None:
    table.add_column(heading, justify="right", no_wrap=True, min_width=NUMBER_WIDTH)
