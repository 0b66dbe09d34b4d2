"""Tables of a run's workers and notes."""

from collections.abc import Callable, Collection, Sequence
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
    memory = "MB+GPU" if any(rank.get("device_mb") for rank in ranks) else "MB"
    numbers = ("updates", "rows", "rows/s", "comm.", "waited", "sent MB", memory)
    table = _table("trainer", "device", numbers=numbers)
    for rank in _fitting(ranks, lines, lambda rank: rank["rows_per_second"]):
        table.add_row(rank["name"], rank["device"], count(rank["updates"]), *_rank_cells([rank]))
    if len(ranks) > 1:
        updates = count(history.learning["updates"])
        table.add_row(f"all {len(ranks)}", "", updates, *_rank_cells(ranks), style="bold")
    return table


def _rank_cells(ranks: Sequence[Line]) -> list[str]:
    """Return the cells of one or several ranks: sums, and means of shares of time."""
    rows, rate, sent, memory, reserved = (
        count(sum(rank.get(name, 0) for rank in ranks))
        for name in ("rows", "rows_per_second", "sent_mb", "memory_mb", "device_mb")
    )
    memory += f"+{reserved}" if reserved != "0" else ""
    communication, waited = (
        mean_share([rank[name] for rank in ranks]) for name in ("communication", "waited")
    )
    return [rows, rate, communication, waited, sent, memory]


def actor_table(workers: Sequence[Line], lines: int) -> Table:
    """Return a table of the actors, the worst if `lines` is too few for all, and their sum."""
    columns = {"positions/s": "positions_per_second", "MB": "memory_mb", "failures": "failures"}
    has_gpu = any(worker.get("device_mb") for worker in workers)
    if has_gpu:
        columns["GPU MB"] = "device_mb"
    loads = ("GPU load",) if has_gpu else ()
    table = _table("actor", numbers=(*columns, *loads))
    for worker in _fitting(workers, lines, lambda w: (-w["failures"], w["positions_per_second"])):
        style = "yellow" if worker["failures"] else ""
        table.add_row(worker["name"], *_actor_cells([worker], columns.values()), style=style)
    if len(workers) > 1:
        cells = _actor_cells(workers, columns.values())
        table.add_row(f"all {len(workers)}", *cells, style="bold")
    return table


def _actor_cells(workers: Sequence[Line], names: Collection[str]) -> list[str]:
    """Return the sums of one or several actors, and the mean load of their GPUs if measured."""
    sums = [count(sum(worker.get(name, 0) for worker in workers)) for name in names]
    loads = [worker["device_busy"] for worker in workers if worker.get("device_busy") is not None]
    return [*sums, mean_share(loads)] if loads else sums


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
