"""Strength as a table: what the rulers return."""

from dataclasses import dataclass

from rookery.arena.rating.interval import wilson


@dataclass(frozen=True)
class Share:
    """A part of what was counted, in percent."""

    count: float
    percent: float
    low: float
    high: float
    """The 95 % interval of `percent`; no width where nothing was left to chance."""


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    label: str
    number: int
    """How many moves or games were counted."""
    errors: Share
    """Moves that give away game value (a win for a draw or a loss, a draw for a loss), or the
    points lost in games."""
    not_best: Share | None
    """Moves worse than the best one, slower wins and faster losses included; None for games."""


@dataclass(frozen=True)
class ErrorTable:
    """Mistakes by group of positions."""

    rows: tuple[Row, ...]
    total: Row


@dataclass(frozen=True)
class Strength:
    """What a ruler says of a player."""

    errors: float
    """The headline, in percent: lower is stronger, 0 is perfect play as far as the ruler sees."""
    label: str
    """What `errors` is a percentage of."""
    rows: tuple[Row, ...]


def sampled(count: int, number: int) -> Share:
    """`count` of `number` drawn from many more, with Wilson's interval."""
    low, high = wilson(count / number, number)
    return Share(count, 100 * count / number, 100 * low, 100 * high)


def exact(count: int, number: int) -> Share:
    """`count` of `number` that are all there are."""
    percent = 100 * count / number
    return Share(count, percent, percent, percent)
