"""Curves of runs in one picture: strength, Elo, loss and speed, drawn with matplotlib."""

import io
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, isfinite
from pathlib import Path
from typing import Any, Literal

from rookery.base import ConfigError, import_extra
from rookery.interface.picture import Axis
from rookery.interface.printable import printable
from rookery.interface.run_history import RunHistory
from rookery.interface.stats_tail import StatsTail
from rookery.training import note_damage, read_identity

What = Literal["strength", "elo", "loss", "speed"]

PANELS: Mapping[What, tuple[str, str]] = {
    "strength": ("Strength: errors, lower is better", "errors (%)"),
    "elo": ("Elo, higher is better", "Elo"),
    "loss": ("Loss", "loss (nats)"),
    "speed": ("Throughput of self-play", "positions per second"),
}
"""The title and the vertical axis of each panel, in their order."""
TIME_UNITS = (("hours", 3600), ("minutes", 60))
"""Longer units first; a run of less than three of one is drawn in the next."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, which people with colour blindness can tell apart."""
LINES = ("-", "--", ":", "-.")
"""Lines of the first runs, of those with the same colours again, and so on."""
SMOOTHED = 40
"""Points from which on the speed is drawn faintly, with its running mean."""
MARKED = 60
"""Points up to which measurements are marked."""
LONG_NAME = 24
"""Characters of a name; if one is longer, the legend has one name per line."""
STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.titlesize": "large",
    "font.family": "DejaVu Sans",
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "rookery",
    "text.parse_math": False,
}


@dataclass(frozen=True)
class Point:
    """A value of a curve, its 95 % interval, and when it was reached."""

    seconds: float
    iterations: int
    games: int
    value: float
    low: float
    high: float


@dataclass
class Curves:
    """What a run has to show."""

    name: str
    game: str
    points: dict[What, list[Point]] = field(default_factory=dict)


def read_all(runs: Sequence[Path]) -> list[Curves]:
    """Return the curves of the runs in these folders, by their names, or paths if names recur."""
    names = [_name(run) for run in runs]
    is_unique = len(set(names)) == len(names)
    labels = names if is_unique else [printable(str(run)) for run in runs]
    return [read_curves(run, label) for run, label in zip(runs, labels, strict=True)]


def read_curves(run: Path, name: str) -> Curves:
    """Return the curves of the run in folder `run`; skip damaged lines, with a note."""
    curves = Curves(name, printable(read_identity(run).game))
    history, tail = RunHistory(), StatsTail(run)
    rated: dict[int, tuple[float, int]] = {}
    for line in tail.read()[0]:
        damaged = history.damaged
        history.add([line])
        if history.damaged > damaged:
            continue
        iteration = line["iteration"]
        when = line.get("seconds", 0.0), iteration, history.games
        if line["kind"] == "elo":
            rated[iteration] = when[0], when[2]
        for what, value in _values(history):
            curves.points.setdefault(what, []).append(Point(*when, *value))
    for iteration, rating in history.ratings.items():
        if iteration in rated:
            seconds, games = rated[iteration]
            point = Point(seconds, iteration, games, rating.elo, rating.low, rating.high)
            curves.points.setdefault("elo", []).append(point)
    note_damage(tail.path, tail.damaged + history.damaged)
    return curves


def _values(history: RunHistory) -> Iterable[tuple[What, tuple[float, float, float]]]:
    """Yield the value and the interval of what the last line of `history` tells."""
    if history.kind == "strength":
        last = history.measurements[-1]
        yield "strength", (last.errors, last.low, last.high)
    elif history.kind == "iteration":
        yield "speed", (history.positions_per_second(),) * 3
        if history.last["learning"]:
            yield "loss", (history.losses[-1],) * 3


def _name(run: Path) -> str:
    return printable(run.name if run.name not in ("", "..") else run.resolve().name)


def choose(runs: Sequence[Curves], wanted: Sequence[What]) -> list[What]:
    """Return the panels to draw: those wanted, or all that a run has points for."""
    found = [what for what in PANELS if any(run.points.get(what) for run in runs)]
    missing = [what for what in wanted if what not in found]
    names = ", ".join(run.name for run in runs)
    if missing or not found:
        lacking = f"no {' and no '.join(missing)}" if missing else "nothing to plot"
        advice = f"; there is {', '.join(found)}" if found else ""
        raise ConfigError(f"{names}: {lacking} yet{advice}; let it train a little longer")
    return [what for what in found if what in (wanted or found)]


def draw(runs: Sequence[Curves], panels: Sequence[What], *, axis: Axis, form: str) -> bytes:
    """Return the picture as the content of a file of `form`, png or svg."""
    matplotlib = import_matplotlib()
    figures = import_extra("matplotlib.figure", extra="plot", user="a picture")
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of characters that the font does not have
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        columns = min(len(panels), 2)
        rows = ceil(len(panels) / columns)
        figure = figures.Figure(figsize=(5.6 * columns, 3.4 * rows + 0.9), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
        figure.suptitle(", ".join(dict.fromkeys(run.game for run in runs)))
        axes = list(figure.subplots(rows, columns, squeeze=False, sharex=True).flat)
        divisor, label = _horizontal(runs, panels, axis)
        for ax, what in zip(axes, panels, strict=False):
            for number, run in enumerate(runs):
                _draw_curve(ax, run.points.get(what, []), what, number, _along(axis, divisor))
            _finish_panel(ax, what, label)
        for ax in axes[len(panels) :]:
            ax.remove()
        _draw_legend(figure, runs, panels)
        file = io.BytesIO()
        metadata = {"Date": None} if form == "svg" else None
        figure.savefig(file, format=form, dpi=150, metadata=metadata)
    return file.getvalue()


def import_matplotlib() -> Any:
    """Return matplotlib, or raise ConfigError if it is not installed."""
    return import_extra("matplotlib", extra="plot", user="a picture")


def _horizontal(runs: Sequence[Curves], panels: Sequence[What], axis: Axis) -> tuple[int, str]:
    """Return what seconds, iterations or games are divided by, and the label of the axis."""
    if axis != "time":
        return 1, axis
    longest = max(
        point.seconds for run in runs for what in panels for point in run.points.get(what, [])
    )
    for unit, seconds in TIME_UNITS:
        if longest >= 3 * seconds:
            return seconds, f"training time ({unit})"
    return 1, "training time (seconds)"


def _along(axis: Axis, divisor: int) -> Callable[[Point], float]:
    field_name = "seconds" if axis == "time" else axis
    return lambda point: float(getattr(point, field_name)) / divisor


def _look(number: int) -> dict[str, Any]:
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": LINES[number // len(COLOURS) % len(LINES)],
    }


def _draw_curve(
    ax: Any, found: Sequence[Point], what: What, number: int, along: Callable[[Point], float]
) -> None:
    """Draw one run's curve: measurements with their intervals, noisy figures with their mean."""
    points = sorted((point for point in found if isfinite(point.value)), key=along)
    x, values = list(map(along, points)), [point.value for point in points]
    look: dict[str, Any] = {**_look(number), "linewidth": 1.6}
    if what == "speed" and len(points) >= SMOOTHED:
        faint = {**look, "linewidth": 0.8, "linestyle": "-", "alpha": 0.25}
        ax.plot(x, values, zorder=1.5, **faint)  # under the means of all runs
        ax.plot(x, _running_mean(values), **look)
        return
    marker = "o" if len(points) <= MARKED else ""
    ax.plot(x, values, marker=marker, markersize=3.5, **look)
    if any(point.low < point.high for point in points):
        low, high = _finite_ends(points)
        ax.fill_between(x, low, high, color=look["color"], alpha=0.15, linewidth=0)
        if len(points) == 1:  # a band without width
            ax.vlines(x, low, high, color=look["color"], alpha=0.5)


def _running_mean(values: Sequence[float]) -> list[float]:
    """Return the means of the neighbours of each value, a twentieth of all on each side."""
    reach = len(values) // 20
    parts = (values[max(at - reach, 0) : at + reach + 1] for at in range(len(values)))
    return [sum(part) / len(part) for part in parts]


def _finite_ends(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    """Return the ends of intervals; infinite ones end at the lowest and highest finite number."""
    ends = [end for point in points for end in (point.low, point.value, point.high)]
    known = [end for end in ends if isfinite(end)]
    least, most = min(known), max(known)
    low = [min(max(point.low, least), most) for point in points]
    return low, [min(max(point.high, least), most) for point in points]


def _finish_panel(ax: Any, what: What, label: str) -> None:
    title, unit = PANELS[what]
    ax.set_title(title, loc="left")
    ax.set_ylabel(unit)
    ax.set_xlabel(label)
    ax.tick_params(labelbottom=True)
    ax.set_xlim(left=0)
    if what in ("strength", "speed"):
        ax.set_ylim(bottom=0)
    ax.ticklabel_format(style="plain", useOffset=False)


def _draw_legend(figure: Any, runs: Sequence[Curves], panels: Sequence[What]) -> None:
    """Name the runs and the bands under the panels."""
    lines = import_extra("matplotlib.lines", extra="plot", user="a picture")
    patches = import_extra("matplotlib.patches", extra="plot", user="a picture")
    shown = [(number, run) for number, run in enumerate(runs) if any(map(run.points.get, panels))]
    handles = [lines.Line2D([], [], linewidth=1.6, **_look(number)) for number, _ in shown]
    # A label with an underscore in front would be left out.
    labels = [f"./{run.name}" if run.name.startswith("_") else run.name for _, run in shown]
    points = [run.points.get(what, []) for _, run in shown for what in panels]
    if any(point.low < point.high for found in points for point in found):
        handles.append(patches.Patch(color="#888888", alpha=0.3, linewidth=0))
        labels.append("95 % interval")
    columns = 4 if max(map(len, labels)) <= LONG_NAME else 1
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), columns))
