"""The progress of a run: a live panel in a terminal, plain lines elsewhere."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Column, Table
from rich.text import Text

from rookery.interface.formatting import count, duration, interval, percent
from rookery.interface.live_panel import LivePanel, has_live_display
from rookery.interface.run_history import RunHistory, read_history
from rookery.training import Progress, ProgressCallback, RunFolder

PLAIN_SECONDS = 15.0
"""Shortest time between two plain lines."""
PANEL_WIDTH = 76
ECHO_WIDTH = 4
"""Columns at the right of the panel, for an echoed ^C."""
TWO_COLUMNS = 68
"""Narrower panels have one column of figures."""
OTHER_LINES = 4
"""Lines of the panel without figures: frame and bar; and one below it."""
MAX_WORKERS = 8
"""Workers whose GPU memory is in the panel; `watch` shows all."""
COMPILING = "may compile"
PREPARING = "preparing"
UNKNOWN = "-"
WITHIN_ITERATION = ("self-play", "learning")
"""The phases of an iteration that is not counted yet."""
PHASES = {"measuring": "measuring strength"}
"""Phases that are shown under another name."""


@contextmanager
def progress_for(folder: RunFolder, console: Console) -> Iterator[ProgressCallback]:
    """Yield the callback that shows progress on `console`: live in a terminal, else plain lines."""
    if not has_live_display(console):
        yield ProgressDisplay(folder, console)
        return
    title = f"{folder.game.name} in {folder.path}"
    with LivePanel(console, Framed(Text(PREPARING), title)) as live:
        yield ProgressDisplay(folder, console, live)


class ProgressDisplay:
    """Shows progress reports, notes and measurements of strength.

    With a live display the figures are in a panel, and a measurement leaves a line above it.
    Without one there is a line every few seconds, and one for every measurement.
    """

    def __init__(self, folder: RunFolder, console: Console, live: LivePanel | None = None) -> None:
        self._folder, self._console, self._live = folder, console, live
        self._past: RunHistory | None = None
        self._last = time.monotonic()
        self._measured: tuple[object, object] = (None, None)
        self._noted = 0

    def __call__(self, report: Progress) -> None:
        """Show `report`."""
        past = self._past = self._past or read_history(self._folder.path)
        for note in report.notes[self._noted :]:
            self._print(f"note: {note}")
        self._noted = len(report.notes)
        measured = report.strength, report.elo
        is_measured = any(a is not b for a, b in zip(measured, self._measured, strict=True))
        self._measured = measured
        if self._live:
            if is_measured:
                self._print(strength_line(report, past))
            title = f"{self._folder.game.name} in {self._folder.path}"
            self._live.update(panel(report, past, title=title))
        elif is_measured or time.monotonic() - self._last >= PLAIN_SECONDS:
            self._last = time.monotonic()
            self._print(plain_line(report, past))

    def _print(self, line: str) -> None:
        """Print a line, which only a terminal breaks into several."""
        self._console.print(line, soft_wrap=self._live is None)


def panel(report: Progress, past: RunHistory, *, title: str) -> RenderableType:
    """Return the panel: a progress bar, and the figures in columns."""
    return Framed(Figures(share_done(report), describe(report, past)), title)


class Figures:
    """A progress bar and figures by label: two to a line if there is room, and only what fits."""

    def __init__(self, done: float, facts: dict[str, str]) -> None:
        self._done, self._facts = done, facts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        pairs = 2 if options.max_width >= TWO_COLUMNS else 1
        columns = [each for _ in range(pairs) for each in (_label(), Column(min_width=25))]
        grid, labels = Table.grid(*columns, padding=(0, 2)), list(self._facts)
        starts = range(0, len(labels), pairs)[: max(0, console.height - OTHER_LINES)]
        for start in starts:
            row = labels[start : start + pairs]
            grid.add_row(*(text for label in row for text in (label, self._facts[label])))
        share = Column(justify="right", min_width=5, no_wrap=True)
        bar = Table.grid(Column(ratio=1), share, padding=(0, 2), expand=True)
        bar.add_row(ProgressBar(total=1.0, completed=self._done), f"{self._done:.0%}")
        yield Group(bar, grid) if starts else bar


def _label() -> Column:
    return Column(style="dim", no_wrap=True)


class Framed:
    """Content in a frame that leaves room for an echoed ^C at its right."""

    def __init__(self, content: RenderableType, title: str) -> None:
        self._content, self._title = content, title

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(min(PANEL_WIDTH, options.max_width - ECHO_WIDTH), 1)
        heading = Text(self._title)
        heading.truncate(max(width - 6, 1), overflow="ellipsis")
        yield Panel(self._content, title=heading, title_align="left", width=width)


def describe(report: Progress, past: RunHistory) -> dict[str, str]:
    """Return an even number of figures by label."""
    played, learned, strength = report.played, report.learned, report.strength or past.strength
    left = time_left(report.seconds, report.progress)
    facts = {
        "phase": describe_phase(report),
        "iteration": count(report.iteration + (report.phase in WITHIN_ITERATION)),
        "games": count(past.games + report.games),
        "loss": f"{learned.losses.total:.3f}" if learned else UNKNOWN,
        "positions/s": count(played.positions / played.seconds) if played else UNKNOWN,
        "simulations/s": count(played.simulations / played.seconds) if played else UNKNOWN,
        "errors": percent(strength.errors) if strength else UNKNOWN,
        "time left": "measuring" if is_measuring(report) else left,
    }
    if elo := report.elo or past.elo:
        facts["Elo"] = f"{elo.elo:.0f}"
        facts["95 % interval"] = interval(elo)
    if played and played.batches:
        facts["mean batch"] = f"{count(played.mean_batch)} rows"
        facts["useful rows"] = percent(100 * played.useful_rows)
    if actors := report.actors:
        facts["actors"] = f"{actors.ready} of {actors.size}"
        facts["staleness"] = f"{actors.staleness:.1f} iterations"
    if learned and learned.worked:
        facts["trainers"] = some_of(len(learned.worked), len(learned.ranks))
        facts["communication"] = mean_share([rank.communication for rank in learned.worked])
    facts |= describe_gpus(report)
    return facts if len(facts) % 2 == 0 else {**facts, "": ""}


def describe_gpus(report: Progress) -> dict[str, str]:
    """Return the load of every GPU, and the GPU memory of the first workers, by label."""
    facts = {}
    for name, usage in report.devices.items():
        facts[name] = f"{percent(100 * usage.busy)} busy"
        facts[f"{name} memory"] = f"{count(usage.memory_mb)} MB"
    actors = report.actors.workers if report.actors else ()
    ranks = report.learned.ranks if report.learned else ()
    memory = {each.name: each.device_mb for each in actors}
    memory |= {each.name: each.device_mb for each in ranks}
    on_gpu = [(name, megabytes) for name, megabytes in memory.items() if megabytes]
    return facts | {name: f"{count(number)} MB on GPU" for name, number in on_gpu[:MAX_WORKERS]}


def load(busy: float, memory_mb: float) -> str:
    """Describe the load of a GPU; `busy` is a share."""
    return f"{percent(100 * busy)} busy, {count(memory_mb)} MB in use"


def some_of(number: int, size: int) -> str:
    """Format 2 of 3 as such, and 3 of 3 as 3."""
    return count(number) if number == size else f"{count(number)} of {count(size)}"


def trainers(number: str, communication: str) -> str:
    """Describe the ranks of a parallel learner."""
    return f"{number} trainers, {communication} communication"


def batches(size: str, useful: str) -> str:
    """Describe the batches that the network evaluates."""
    return f"batch {size}, {useful} useful"


def mean_share(shares: Sequence[float]) -> str:
    """Return the mean of at least one share, in percent."""
    return percent(100 * sum(shares) / len(shares))


def describe_phase(report: Progress) -> str:
    """Return the phase with what explains it: compilation, simulations, share measured."""
    if is_measuring(report):
        return PHASES[report.phase]
    if report.played is None:
        return f"{report.phase}, {COMPILING}"
    if report.phase == "self-play":
        return f"{report.phase}, {report.simulations} simulations"
    return report.phase


def is_measuring(report: Progress) -> bool:
    """Whether the run measures its strength, which is not training."""
    return report.phase in PHASES


def share_done(report: Progress) -> float:
    """Return the share of the run that is done, or of a measurement under way."""
    measured = report.measured if is_measuring(report) else None
    return report.progress if measured is None else measured


def time_left(seconds: float, progress: float) -> str:
    """Return the remaining time at the present pace; unknown at the start or without an end."""
    if progress <= 0:
        return UNKNOWN
    return duration(seconds * (1 - progress) / progress)


def strength_line(report: Progress, past: RunHistory) -> str:
    """Return the line that a measurement leaves in the terminal."""
    facts = describe(report, past)
    when = f"{duration(report.seconds)}  {report.progress:4.0%}  iteration {facts['iteration']}"
    return f"{when}  loss {facts['loss']}  errors {facts['errors']}{_elo(facts, '  ')}"


def _elo(facts: dict[str, str], before: str = "") -> str:
    """Return the Elo and its interval, or an empty string if it is not known."""
    return f"{before}Elo {facts['Elo']} ({facts['95 % interval']})" if "Elo" in facts else ""


def plain_line(report: Progress, past: RunHistory) -> str:
    """Return the figures in one line."""
    facts = describe(report, past)
    parts = [
        duration(report.seconds),
        f"{share_done(report):4.0%}",
        f"iteration {facts['iteration']}",
        facts["phase"] if report.played is None else PHASES.get(report.phase, report.phase),
        *(f"{facts[name]} {name}" for name in ("games", "positions/s", "simulations/s")),
        f"loss {facts['loss']}",
        f"errors {facts['errors']}",
        _elo(facts) or UNKNOWN,
        UNKNOWN if is_measuring(report) else f"{facts['time left']} left",
        batches(facts.get("mean batch", UNKNOWN), facts.get("useful rows", UNKNOWN)),
        f"{facts['actors']} actors" if report.actors else UNKNOWN,
        trainers(facts.get("trainers", UNKNOWN), facts.get("communication", UNKNOWN)),
        *(f"{name} {load(each.busy, each.memory_mb)}" for name, each in report.devices.items()),
    ]
    return "  ".join(part for part in parts if UNKNOWN not in part.split())
