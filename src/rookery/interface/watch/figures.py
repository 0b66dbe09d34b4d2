"""The figures of a run, a row for each of its parts."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from rookery.interface.formatting import count, duration, percent
from rookery.interface.progress import mean_share, time_left, trainers
from rookery.interface.watch.curve import Curve, Flow
from rookery.interface.watch.run_history import RunHistory
from rookery.interface.watch.run_status import FINISHED, NEW, RUNNING, STOPPED, RunStatus
from rookery.interface.watch.stats_tail import Line

STYLES = {RUNNING: "bold green", FINISHED: "bold cyan", STOPPED: "bold yellow", NEW: "bold yellow"}
LATEST_WIDTH = 34
"""Of the text beside a curve, so that curves end at the same place."""
EARLIER = 2
"""Measurements before the last one that are shown."""

Row = tuple[str, RenderableType]


def figures(standing: RunStatus) -> Table:
    """All that is known of a run, but for its workers one by one."""
    grid = Table.grid(padding=(0, 2, 0, 0), expand=True)
    grid.add_column(style="dim", no_wrap=True, min_width=len("self-play"))
    grid.add_column(ratio=1)
    grid.add_row(Text(standing.state, STYLES[standing.state]), _bar(standing))
    for label, content in rows(standing):
        grid.add_row(label, content)
    return grid


def rows(standing: RunStatus) -> Iterator[Row]:
    """The rows below the bar; what a run does not have, or not yet, has none."""
    story = standing.story
    yield "run", _where(standing)
    if story.place:
        yield "recipe", _means(standing)
    if story.turn:
        yield "self-play", _selfplay(story)
        yield "window", _window(story.turn["window"])
    if story.learning:
        yield "learning", _learning(story)
        yield "loss", _loss(story)
    if story.measured:
        yield "strength", _strength(story)
        yield "", _ruler(story)
    if story.usage:
        yield "device", _usage(story.usage)
    if crew := story.turn.get("crew"):
        yield "actors", _crew(crew)


def _bar(standing: RunStatus) -> RenderableType:
    run = standing.config.run
    if not (run.minutes or run.iterations):
        return Text("goes on until it is stopped")
    grid = Table.grid(padding=(0, 0, 0, 2), expand=True)
    grid.add_column(ratio=1)
    grid.add_column(justify="right", no_wrap=True)
    told = f"{standing.progress:.0%}"
    if standing.state == RUNNING and standing.progress > 0:
        told += f"  {time_left(standing.seconds, standing.progress)} left"
    grid.add_row(ProgressBar(total=1.0, completed=standing.progress), told)
    return grid


def _where(standing: RunStatus) -> Flow:
    story = standing.story
    figures = [f"iteration {count(story.iteration)}", f"{duration(standing.seconds)} of training"]
    if story.kind:
        figures.append(f"last line {ago(standing.silence)}")
    return Flow(*figures)


def ago(seconds: float) -> str:
    """How long ago something was, as people say it."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"


def _means(standing: RunStatus) -> Flow:
    """With what it trains: recipe, devices, precision."""
    place, config = standing.story.place, standing.config
    devices = config.run.devices if "," in config.run.devices else place["device"]
    figures = [config.recipe, f"on {devices}"]
    if config.run.cluster:
        figures.append(f"cluster {config.run.cluster}")
    figures.append(str(config.net))
    figures.append(f"{config.learning.method}, {place['precision']}")
    return Flow(*figures)


def _selfplay(story: RunHistory) -> Flow:
    played = story.turn["selfplay"]
    return Flow(
        f"{count(story.positions_per_second())} positions/s",
        f"{count(story.simulations_per_second())} simulations/s",
        f"{count(story.games)} games",
        f"{played['mean_length']:.1f} plies",
        f"{_share(played['first_wins'])} first wins",
        f"{_share(played['draws'])} draws",
        f"{_share(played['duplicate_games'])} duplicates",
    )


def _window(window: Line) -> Flow:
    return Flow(
        f"{count(window['rows'])} rows",
        f"mean age {window['mean_age']:.1f}",
        f"{_share(window['duplicate_share'])} duplicates",
        f"entropy {window['policy_entropy']:.2f}",
    )


def _learning(story: RunHistory) -> Flow:
    learned, losses = story.learning, story.learning["losses"]
    return Flow(
        f"{count(learned['rows_per_second'])} rows/s",
        f"{count(story.updates)} updates",
        f"rate {learned['learning_rate']:.2g}",
        f"KL {losses['policy_kl']:.3f}",
        f"policy {_share(losses['policy_accuracy'])} right",
        f"value {_share(losses['value_accuracy'])} right",
        f"gradient {losses['gradient_norm']:.2f}",
        *_together(learned),
    )


def _together(learned: Line) -> list[str]:
    """How well several ranks learn together: beside the sum of what each does by itself."""
    if not (ranks := learned.get("ranks")):
        return []
    alone = sum(rank["rows_per_second"] for rank in ranks)
    efficiency = learned["rows_per_second"] / max(alone, 1e-9)
    told = trainers(count(len(ranks)), mean_share([rank["communication"] for rank in ranks]))
    return [f"{told}, {_share(efficiency)} efficiency"]


def _loss(story: RunHistory) -> RenderableType:
    losses = story.learning["losses"]
    latest = f"{losses['total']:.3f}  policy {losses['policy']:.3f}  value {losses['value']:.3f}"
    return _curve(Curve(story.losses, style="magenta"), latest)


def _strength(story: RunHistory) -> RenderableType:
    last = story.measured[-1]
    latest = f"{percent(last.errors)}  iteration {last.iteration}  at {duration(last.seconds)}"
    return _curve(Curve([each.errors for each in story.measured], style="cyan"), latest)


def _ruler(story: RunHistory) -> Flow:
    """What strength is measured by, and how it was before."""
    last, earlier = story.measured[-1], story.measured[-1 - EARLIER : -1]
    figures = [last.label, f"{last.simulations} simulations"]
    if earlier:
        figures.append(f"before {', '.join(percent(each.errors) for each in earlier)}")
    return Flow(*figures)


def _curve(curve: Curve, latest: str) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0), expand=True)
    grid.add_column(ratio=1)
    grid.add_column(min_width=LATEST_WIDTH, no_wrap=True)
    grid.add_row(curve, latest)
    return grid


def _usage(usage: Line) -> Flow:
    return Flow(f"{_share(usage['busy'])} busy", f"{count(usage['memory_mb'])} MB in use")


def _crew(crew: Line) -> Flow:
    return Flow(
        f"{crew['staleness']:.1f} iterations stale",
        f"learner waited {_share(crew['learner_waited'])}",
        f"games waited {_share(crew['games_waited'])}",
    )


def _share(share: float) -> str:
    return percent(100 * share)
