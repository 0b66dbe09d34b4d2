"""Numbers as people read them."""

import shutil
import sys
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from rookery.games import Action, Game, State
from rookery.arena import RatingEstimate


def screen() -> Console:
    """The terminal, or wherever stdout goes; brackets in names mean nothing to it."""
    return Console(highlight=False, markup=False)


def new_table(*headings: str, title: str | None = None) -> Table:
    """A table with a line under its headings, numbers to be aligned by the caller."""
    table = Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, show_edge=False, pad_edge=False
    )
    for heading in headings:
        table.add_column(heading)
    return table


def count(number: float) -> str:
    """12345.6 as 12,346."""
    return f"{number:,.0f}"


def duration(seconds: float) -> str:
    """75 as 1:15, 3675 as 1:01:15."""
    whole = int(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def program() -> str:
    """How to call Rookery from here: by its name, or by the path it was started with."""
    if shutil.which("rookery"):
        return "rookery"
    started = Path(sys.argv[0])
    return str(started) if started.name == "rookery" else "python -m rookery"


def tenths(share: float) -> str:
    """7.25 as 7.2; what is little but not nothing does not look like nothing."""
    return "<0.1" if 0 < share < 0.05 else f"{share:.1f}"


def percent(share: float) -> str:
    """7.25 as 7.2 %."""
    return f"{tenths(share)} %"


def format_move(game: "Game", state: "State", action: "Action") -> str:
    """A move as people write it: in chess `Nf3`, elsewhere as it is typed."""
    write = getattr(game.module, "write_san", game.module.write_move)
    return str(write(state, action))


def rating(place: RatingEstimate) -> str:
    """A rating with its 95 % interval: 1234 (1190 to 1278); open where nothing bounds it."""
    low, high = (f"{end:.0f}" if isfinite(end) else "?" for end in (place.low, place.high))
    return f"{place.elo:.0f} (95 % interval {low} to {high})"


def elo(difference: float) -> str:
    """An Elo difference with its sign; beyond every game won or lost there is no number."""
    if not isfinite(difference):
        return "+inf" if difference > 0 else "-inf"
    return f"{difference:+.0f}"
