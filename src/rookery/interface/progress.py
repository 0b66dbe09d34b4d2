"""A run as it goes: a live panel in a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from rookery.interface.formatting import count, duration, percent
from rookery.interface.history import History, read_history
from rookery.training import Progress, RunFolder

PLAIN_SECONDS = 15.0
"""Time between two plain lines, at least."""
REFRESH_PER_SECOND = 4
PANEL_WIDTH = 76
COMPILING = "compiling if new here"
PREPARING = "preparing"
UNKNOWN = "-"
WITHIN_ITERATION = ("self-play", "learning")
"""The phases of an iteration that is not counted yet."""

Check = Callable[[], None]


class ProgressDisplay(Protocol):
    """Shows every moment of a run; entered and left as a context."""

    def __enter__(self) -> "ProgressDisplay": ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def __call__(self, moment: Progress) -> None: ...


def progress_for(folder: RunFolder, console: Console) -> ProgressDisplay:
    """The progress that suits where `console` writes."""
    return LiveProgress(folder, console) if console.is_terminal else PlainProgress(folder, console)


class PlainProgress:
    """A line now and then, and one for every measurement of strength."""

    def __init__(self, folder: RunFolder, console: Console) -> None:
        self._folder, self._console = folder, console
        self._past: History | None = None
        self._last = time.monotonic()
        self._strength: object = None
        self._noted = 0

    def __enter__(self) -> "PlainProgress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is left open."""

    def __call__(self, moment: Progress) -> None:
        """Print a line if it is time for one."""
        self._past = self._past or read_history(self._folder.path)
        self._noted = print_notes(moment, self._noted, self._console)
        news = moment.strength is not self._strength
        if not news and time.monotonic() - self._last < PLAIN_SECONDS:
            return
        self._last, self._strength = time.monotonic(), moment.strength
        self._console.print(plain_line(moment, self._past), soft_wrap=True)


class LiveProgress:
    """A panel that is drawn over; measurements of strength stay above it."""

    def __init__(self, folder: RunFolder, console: Console) -> None:
        self._folder, self._console = folder, console
        self._past: History | None = None
        self._strength: object = None
        self._noted = 0
        self._title = f"{folder.game.name} in {folder.path}"
        self._live = Live(
            framed(PREPARING, self._title),
            console=console,
            refresh_per_second=REFRESH_PER_SECOND,
            transient=True,
        )

    def __enter__(self) -> "LiveProgress":
        self._live.start(refresh=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the panel away."""
        self._live.stop()

    def __call__(self, moment: Progress) -> None:
        """Show `moment`."""
        self._past = self._past or read_history(self._folder.path)
        self._noted = print_notes(moment, self._noted, self._console)
        if moment.strength is not self._strength:
            self._strength = moment.strength
            self._console.print(strength_line(moment, self._past), soft_wrap=True)
        self._live.update(panel(moment, self._past, title=self._title))


def print_notes(moment: Progress, known: int, console: Console) -> int:
    """Print what was noted after the first `known` notes; how many there are now."""
    for note in moment.notes[known:]:
        console.print(f"note: {note}", soft_wrap=True)
    return len(moment.notes)


def panel(moment: Progress, past: History, *, title: str) -> RenderableType:
    """What the terminal shows: how far the run is, and its figures in two columns."""
    facts = describe(moment, past)
    grid = Table.grid(padding=(0, 2))
    for _ in range(2):
        grid.add_column(style="dim")
        grid.add_column(min_width=25)
    labels = list(facts)
    for left, right in zip(labels[::2], labels[1::2], strict=True):
        grid.add_row(left, facts[left], right, facts[right])
    bar = Table.grid(padding=(0, 2), expand=True)
    bar.add_column(ratio=1)
    bar.add_column(justify="right", min_width=5)
    bar.add_row(ProgressBar(total=1.0, completed=moment.progress), f"{moment.progress:.0%}")
    return framed(Group(bar, grid), title)


def framed(content: RenderableType, title: str) -> Panel:
    """`content` in a frame; at its right a terminal has room to echo ^C without a new line."""
    heading = Text(title)
    heading.truncate(PANEL_WIDTH - 6, overflow="ellipsis")
    return Panel(content, title=heading, title_align="left", width=PANEL_WIDTH)


def describe(moment: Progress, past: History) -> dict[str, str]:
    """The figures of a moment, by label; an even number of them."""
    played, learned = moment.played, moment.learned
    facts = {
        "phase": describe_phase(moment),
        "iteration": count(moment.iteration + (moment.phase in WITHIN_ITERATION)),
        "games": count(past.games + moment.games),
        "loss": f"{learned.losses.total:.3f}" if learned else UNKNOWN,
        "positions/s": count(played.positions / played.seconds) if played else UNKNOWN,
        "simulations/s": count(played.simulations / played.seconds) if played else UNKNOWN,
        "errors": strength_so_far(moment, past),
        "time left": time_left(moment.seconds, moment.progress),
    }
    if crew := moment.crew:
        facts["actors"] = f"{crew.ready} of {crew.size}"
        facts["staleness"] = f"{crew.staleness:.1f} iterations"
    if learned and learned.ranks:
        facts["trainers"] = count(len(learned.ranks))
        facts["communication"] = mean_share([rank.communication for rank in learned.ranks])
    return facts


def trainers(number: str, communication: str) -> str:
    """Ranks that learn together, in words."""
    return f"{number} trainers, {communication} communication"


def mean_share(shares: Sequence[float]) -> str:
    """The mean of at least one share, in percent."""
    return percent(100 * sum(shares) / len(shares))


def describe_phase(moment: Progress) -> str:
    """The phase; why the first one may take a minute; what self-play is doing."""
    if moment.played is None:
        return f"{moment.phase}, {COMPILING}"
    if moment.phase == "self-play":
        return f"{moment.phase}, {moment.simulations} simulations"
    return moment.phase


def strength_so_far(moment: Progress, past: History) -> str:
    """The last measurement, of this stretch or an earlier one."""
    if moment.strength:
        return percent(moment.strength.errors)
    return percent(past.strength.errors) if past.strength else UNKNOWN


def time_left(seconds: float, progress: float) -> str:
    """What remains if a run goes on as before; unknown at its start or without an end."""
    if progress <= 0:
        return UNKNOWN
    return duration(seconds * (1 - progress) / progress)


def strength_line(moment: Progress, past: History) -> str:
    """What stays in the terminal of a measurement."""
    facts = describe(moment, past)
    when = f"{duration(moment.seconds)}  {moment.progress:4.0%}  iteration {facts['iteration']}"
    return f"{when}  loss {facts['loss']}  errors {facts['errors']}"


def plain_line(moment: Progress, past: History) -> str:
    """The same figures in one line."""
    facts = describe(moment, past)
    parts = [
        duration(moment.seconds),
        f"{moment.progress:4.0%}",
        f"iteration {facts['iteration']}",
        facts["phase"] if moment.played is None else moment.phase,
        *(f"{facts[name]} {name}" for name in ("games", "positions/s", "simulations/s")),
        f"loss {facts['loss']}",
        f"errors {facts['errors']}",
        f"{facts['time left']} left",
        f"{facts['actors']} actors" if moment.crew else UNKNOWN,
        trainers(facts.get("trainers", UNKNOWN), facts.get("communication", UNKNOWN)),
    ]
    return "  ".join(part for part in parts if UNKNOWN not in part.split())
