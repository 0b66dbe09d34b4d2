"""The figures of a run as a table, one row for each of its parts."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Column, Table
from rich.text import Text

from rookery.interface.formatting import count, duration, interval, percent
from rookery.interface.progress import batches, load, some_of, time_left, trainers
from rookery.interface.run_history import RunHistory
from rookery.interface.stats_tail import Line
from rookery.interface.watch.curve import Curve, Flow
from rookery.interface.watch.run_status import FINISHED, NEW, RUNNING, STOPPED, RunStatus
from rookery.interface.watch.workers import total_rank
from rookery.training import describe_damage

STYLES = {RUNNING: "bold green", FINISHED: "bold cyan", STOPPED: "bold yellow", NEW: "bold yellow"}
LATEST_WIDTH = 34
"""Width of the text next to a curve, so that curves are aligned."""
EARLIER = 2
"""Number of measurements shown before the last one."""

Row = tuple[str, RenderableType]


def run_table(status: RunStatus) -> Table:
    """Return all figures of a run except those of single workers."""
    label = Column(style="dim", no_wrap=True, min_width=len("self-play"))
    grid = Table.grid(label, Column(ratio=1), padding=(0, 2, 0, 0), expand=True)
    grid.add_row(Text(status.state, STYLES[status.state]), _bar(status))
    for row in rows(status):
        grid.add_row(*row)
    return grid


def rows(status: RunStatus) -> Iterator[Row]:
    """Yield the rows below the progress bar, without those that have no figures yet."""
    history = status.history
    yield "run", _position(status)
    if history.start:
        yield "recipe", _setup(status)
    if history.last:
        yield "self-play", _selfplay(history)
        yield "window", _window(history.last["window"])
    if history.learning:
        yield "learning", _learning(history)
        yield "loss", _loss(history)
    if history.measurements:
        yield "strength", _strength(history)
        yield "", _measure(history)
    if history.ratings:
        yield "Elo", _elo(history)
    if gpus := history.usages:
        loads = (f"{name} {load(each['busy'], each['memory_mb'])}" for name, each in gpus.items())
        yield "devices", Flow(*loads)
    elif usage := history.usage:
        yield "device", Flow(load(usage["busy"], usage["memory_mb"]))
    elif note := history.start.get("device_note"):
        yield "device", Text(note)
    used = history.last.get("fallbacks", {})
    if active := [f"{kind} ({n})" for kind, n in used.items() if n and kind != "device"]:
        yield "fallbacks", Flow(*active)
    if actors := history.last.get("actors"):
        yield "actors", _actors(actors)
    if status.damaged:
        path = status.path / "stats.jsonl"
        yield "note", Text(describe_damage(path, status.damaged), "yellow")


def _bar(status: RunStatus) -> RenderableType:
    run = status.config.run
    if not (run.minutes or run.iterations):
        return Text("runs until it is stopped")
    right = Column(justify="right", no_wrap=True)
    grid = Table.grid(Column(ratio=1), right, padding=(0, 0, 0, 2), expand=True)
    label = f"{status.progress:.0%}"
    if status.state == RUNNING and status.progress > 0:
        label += f"  {time_left(status.seconds, status.progress)} left"
    grid.add_row(ProgressBar(total=1.0, completed=status.progress), label)
    return grid


def _position(status: RunStatus) -> Flow:
    history = status.history
    figures = [f"iteration {count(history.iteration)}", f"{duration(status.seconds)} elapsed"]
    if history.kind:
        figures.append(f"last update {ago(status.seconds_since_line)}")
    return Flow(*figures)


def ago(seconds: float) -> str:
    """Return a duration in the largest unit that fits, as in 5 min ago."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"


def _setup(status: RunStatus) -> Flow:
    """Return recipe, devices, network and precision."""
    start, config = status.history.start, status.config
    devices = ",".join(start.get("devices") or [start["device"]])
    cluster = [f"cluster {config.run.cluster}"] if config.run.cluster else []
    learning = f"{config.learning.method}, {start['precision']}"
    return Flow(config.recipe, f"on {devices}", *cluster, str(config.net), learning)


def _selfplay(history: RunHistory) -> Flow:
    played = history.last["selfplay"]
    return Flow(
        f"{count(history.positions_per_second())} positions/s",
        f"{count(history.simulations_per_second())} simulations/s",
        f"{count(history.games)} games",
        f"{played['mean_length']:.1f} plies",
        f"{_share(played['first_wins'])} first wins",
        f"{_share(played['draws'])} draws",
        f"{_share(played['duplicate_games'])} duplicates",
        *_batches(played),
    )


def _batches(played: Line) -> list[str]:
    """Return the mean batch of the network; runs of earlier versions did not record it."""
    if not played.get("batches"):
        return []
    return [batches(f"{count(played['mean_batch'])} rows", _share(played["useful_rows"]))]


def _window(window: Line) -> Flow:
    return Flow(
        f"{count(window['rows'])} rows",
        f"mean age {window['mean_age']:.1f}",
        f"{_share(window['duplicate_share'])} duplicates",
        f"entropy {window['policy_entropy']:.2f}",
        *([f"{count(window['given_rows'])} rows given"] if window.get("given_rows") else []),
    )


def _learning(history: RunHistory) -> Flow:
    learned, losses = history.learning, history.learning["losses"]
    return Flow(
        f"{count(learned['rows_per_second'])} rows/s",
        f"{count(history.updates)} updates",
        f"rate {learned['learning_rate']:.2g}",
        f"KL {losses['policy_kl']:.3f}",
        f"policy {_share(losses['policy_accuracy'])} correct",
        f"value {_share(losses['value_accuracy'])} correct",
        f"gradient {losses['gradient_norm']:.2f}",
        *_parallel(history),
    )


def _parallel(history: RunHistory) -> list[str]:
    """Return how many trainers learn, and their speed compared with the sum of each alone."""
    if not (total := total_rank(history)):
        return []
    worked = sum(rank.updates > 0 for rank in history.ranks)
    number = some_of(worked, len(history.ranks))
    summary = trainers(number, _share(total.communication))
    held = f"trainers hold {count(total.rows_held)} rows"
    return [f"{summary}, {_share(total.efficiency)} efficiency", *([held] * (total.rows_held > 0))]


def _loss(history: RunHistory) -> RenderableType:
    losses = history.learning["losses"]
    latest = f"{losses['total']:.3f}  policy {losses['policy']:.3f}  value {losses['value']:.3f}"
    return _curve(Curve(history.losses, style="magenta"), latest)


def _strength(history: RunHistory) -> RenderableType:
    last = history.measurements[-1]
    latest = f"{percent(last.errors)}  iteration {last.iteration}  at {duration(last.seconds)}"
    return _curve(Curve([each.errors for each in history.measurements], style="cyan"), latest)


def _elo(history: RunHistory) -> RenderableType:
    iteration, last = list(history.ratings.items())[-1]
    latest = f"{last.elo:.0f} ({interval(last)})  iteration {iteration}"
    return _curve(Curve([each.elo for each in history.ratings.values()], style="green"), latest)


def _measure(history: RunHistory) -> Flow:
    """Return what strength is measured by, and the previous results."""
    last, earlier = history.measurements[-1], history.measurements[-1 - EARLIER : -1]
    figures = [last.label, f"{last.simulations} simulations"]
    if earlier:
        figures.append(f"before {', '.join(percent(each.errors) for each in earlier)}")
    return Flow(*figures)


def _curve(curve: Curve, latest: str) -> RenderableType:
    right = Column(min_width=LATEST_WIDTH, no_wrap=True)
    grid = Table.grid(Column(ratio=1), right, padding=(0, 2, 0, 0), expand=True)
    grid.add_row(curve, latest)
    return grid


def _actors(actors: Line) -> Flow:
    return Flow(
        f"{actors['staleness']:.1f} iterations stale",
        f"learner waited {_share(actors['learner_waited'])}",
        f"games waited {_share(actors['games_waited'])}",
    )


def _share(share: float) -> str:
    return percent(100 * share)
