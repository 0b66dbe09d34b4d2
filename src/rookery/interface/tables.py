"""Tables of strength, matches and ratings, and their summaries."""

from collections.abc import Sequence

from rich.table import Table

from rookery.arena import MatchReport, Percentage, RatingReport, Strength, StrengthRow, WinDrawLoss
from rookery.interface.formatting import (
    count,
    elo,
    interval,
    new_table,
    percent,
    rating,
    tenths,
)
from rookery.training import EloHistory

Column = tuple[str, Strength]
"""A heading, and the measurement below it."""


def error_table(columns: Sequence[Column]) -> Table:
    """Return errors in percent with 95 % intervals: one row per group, one column per player."""
    table = _table(columns, columns[0][1].label)
    for rows in _side_by_side(columns):
        table.add_row(rows[0].label, count(rows[0].number), *(_share(row.errors) for row in rows))
    return table


def not_best_table(columns: Sequence[Column]) -> Table | None:
    """Return the share of moves that are not best; None if the test cannot rank wins."""
    table = _table(columns, "moves that are not best (slower wins and faster losses included)")
    measured = [row for _, strength in columns for row in strength.rows]
    if all(row.not_best is None or row.not_best == row.errors for row in measured):
        return None
    for rows in _side_by_side(columns):
        shares = [row.not_best for row in rows if row.not_best is not None]
        if shares:
            table.add_row(rows[0].label, count(rows[0].number), *map(_share, shares))
    return table


def match_table(report: MatchReport) -> Table:
    """Return wins, draws and losses of player a, by who moved first."""
    numbers = ("games", "wins", "draws", "losses", "score")
    table = new_table("moves", numbers=numbers, title=f"results of {report.a}")
    for label, tally in (("first", report.first), ("second", report.second)):
        table.add_row(label, *_tally(tally), _score(tally))
    table.add_row("total", *_tally(report.total), _score(report.total), style="bold")
    return table


def match_verdict(report: MatchReport) -> str:
    """Describe the Elo difference, and how many distinct games it rests on."""
    found = report.difference
    return (
        f"Elo {elo(found.elo)} for {report.a} "
        f"(95 % interval {elo(found.low)} to {elo(found.high)}), "
        f"{percent(100 * found.superiority)} likely to be stronger; "
        f"{count(report.distinct_games)} of {count(report.total.games)} games are distinct"
    )


def rung_table(report: RatingReport) -> Table:
    """Return the results against each rung, the strongest first."""
    numbers = ("Elo", "games", "wins", "draws", "losses", "points", "expected")
    table = new_table("rung", numbers=numbers)
    for row in reversed(report.rows):
        if row.counts.games:
            points = (f"{_points(row.counts):.1f}", f"{row.expected:.1f}")
            table.add_row(row.rung.player, count(row.rung.elo), *_tally(row.counts), *points)
    return table


def rating_verdict(report: RatingReport) -> str:
    """Describe the rating, and how many distinct games it rests on."""
    return (
        f"rating {rating(report.estimate)}, {_between(report)}; "
        f"the ladder has a margin of +-{report.margin:.0f} there; "
        f"{count(report.distinct_games)} of {count(len(report.games))} games are distinct"
    )


def history_table(history: EloHistory) -> Table:
    """Return the Elo of all iterations that were rated."""
    table = new_table(numbers=("iteration", "Elo", "95 % interval", "games"))
    for iteration, each in history.ratings().items():
        games = count(history.games(iteration))
        table.add_row(count(iteration), count(each.elo), interval(each), games)
    return table


def anchor_line(history: EloHistory) -> str:
    """Name the opponents that fix the scale, and those that were rated with the networks."""
    fitted = history.fit()
    shown = [
        f"{name} {fitted[name].elo if rating is None else rating:.0f}"
        for name, rating in history.anchors.items()
        if rating is not None or name in fitted
    ]
    return f"the scale: {', '.join(shown)}"


def _between(report: RatingReport) -> str:
    """Name the rungs next to the rating."""
    below = [row.rung.player for row in report.rows if row.rung.elo <= report.estimate.elo]
    above = [row.rung.player for row in report.rows if row.rung.elo > report.estimate.elo]
    if below and above:
        return f"between {below[-1]} and {above[0]}"
    return f"above {below[-1]}" if below else f"below {above[0]}"


def _table(columns: Sequence[Column], title: str) -> Table:
    rows = [row for _, strength in columns for row in strength.rows]
    sampled = any(row.errors.low < row.errors.high for row in rows)
    title = f"{title}, in %{' (95 % interval)' if sampled else ''}"
    return new_table("", numbers=("number", *(heading for heading, _ in columns)), title=title)


def _side_by_side(columns: Sequence[Column]) -> list[tuple[StrengthRow, ...]]:
    return list(zip(*(strength.rows for _, strength in columns), strict=True))


def _share(share: Percentage) -> str:
    if share.low == share.high:
        return tenths(share.percent)
    return f"{tenths(share.percent)} ({share.low:.1f}-{share.high:.1f})"


def _tally(tally: WinDrawLoss) -> list[str]:
    return [count(each) for each in (tally.games, tally.wins, tally.draws, tally.losses)]


def _points(tally: WinDrawLoss) -> float:
    return tally.wins + tally.draws / 2


def _score(tally: WinDrawLoss) -> str:
    return percent(100 * _points(tally) / tally.games) if tally.games else "-"
