"""Tables of a run's workers and notes."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from rich.table import Column, Table
from rich.text import Text

from rookery.interface.formatting import count, duration, percent, tenths
from rookery.interface.progress import mean_share
from rookery.interface.run_history import Note, RunHistory
from rookery.interface.stats_tail import Line
from rookery.learning import RankStats, total_of

NUMBER_WIDTH = 7
"""Smallest width of a column of numbers; those of trainers are narrower, to fit 80 characters."""


Figures = TypeVar("Figures")


def extra_lines(workers: Sequence[object]) -> int:
    """Return the lines of a table besides those of single workers: headings, sum of several."""
    return 2 if len(workers) > 1 else 1


def total_rank(history: RunHistory) -> RankStats | None:
    """Return the sum of the trainers, None without any."""
    if not (ranks := history.ranks):
        return None
    updates, rate = history.learning["updates"], history.learning["rows_per_second"]
    return total_of(ranks, updates=updates, rows_per_second=rate)


def trainer_table(history: RunHistory, lines: int) -> Table:
    """Return what the trainers do, the slowest if `lines` is too few for all, and their sum."""
    numbers = (
        "updates",
        "samples",
        "rows/s",
        "batch ms",
        "sync ms",
        "effic.",
        "sent MB",
        "recv MB",
    )
    return _rank_table(
        history,
        _table("trainer", numbers=numbers, width=6),
        _work_cells,
        _fitting(history.ranks, lines, lambda rank: rank.rows_per_second),
    )


def health_table(history: RunHistory, lines: int) -> Table:
    """Return how the trainers are, the worst if `lines` is too few for all, and their sum."""
    numbers = ("silent", "failures", "restarts", "fallback", "MB", "GPU MB")
    return _rank_table(
        history,
        _table("trainer", "device", "state", numbers=numbers, width=6),
        _health_cells,
        _fitting(history.ranks, lines, lambda rank: (rank.state == "healthy", -rank.failures)),
    )


def _rank_table(
    history: RunHistory,
    table: Table,
    cells: Callable[[RankStats], list[str]],
    ranks: Sequence[RankStats],
) -> Table:
    for rank in ranks:
        table.add_row(*cells(rank), style="" if rank.state == "healthy" else "yellow")
    total = total_rank(history)
    if total and len(history.ranks) > 1:
        table.add_row(*cells(total), style="bold")
    return table


def _work_cells(rank: RankStats) -> list[str]:
    return [
        rank.name,
        _brief(rank.total_updates),
        _brief(rank.samples),
        _brief(rank.rows_per_second),
        tenths(rank.batch_ms),
        tenths(rank.sync_ms),
        percent(100 * rank.efficiency),
        _brief(rank.sent_mb),
        _brief(rank.received_mb),
    ]


def _health_cells(rank: RankStats) -> list[str]:
    return [
        rank.name,
        rank.device,
        rank.state,
        f"{tenths(rank.heartbeat_age)} s",
        count(rank.failures),
        count(rank.restarts),
        "active" if rank.fallback else "-",
        count(rank.memory_mb),
        count(rank.device_mb),
    ]


def _brief(number: float) -> str:
    """Format a number in at most seven characters: 12,345 and 1.23 M."""
    for unit, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if number >= unit:
            return f"{number / unit:.3g} {letter}"
    return count(number)


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


def _fitting(
    workers: Sequence[Figures], lines: int, key: Callable[[Figures], Any]
) -> Sequence[Figures]:
    """Return the workers that fit into `lines`: all, or the lowest by `key`."""
    room = lines - extra_lines(workers)
    return workers if room >= len(workers) else sorted(workers, key=key)[:room]


def _table(*headings: str, numbers: Sequence[str], width: int = NUMBER_WIDTH) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for heading in headings:
        table.add_column(heading, no_wrap=True)
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True, min_width=width)
    return table
