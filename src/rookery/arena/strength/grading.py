"""Moves graded by the exact scores of all actions, and counted by group."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rookery.arena.rating.elo import wilson
from rookery.arena.strength.strength_test import Percentage, StrengthRow

Scores = Sequence[int | None]
"""[A] the score of each action for the player to move, None if it is illegal."""
PercentageOf = Callable[[int, int], Percentage]


@dataclass(frozen=True)
class MoveGrade:
    """A move compared with the best one."""

    is_error: bool
    """It loses game value."""
    is_not_best: bool
    """Another move has a higher score: it wins, draws, wins faster or loses slower."""


def grade_move(scores: Scores, action: int) -> MoveGrade:
    """Return the grade of a legal action."""
    best = max(score for score in scores if score is not None)
    chosen = scores[action]
    assert chosen is not None
    return MoveGrade(bool(np.sign(chosen) < np.sign(best)), chosen < best)


def error_rows(
    groups: Mapping[str, Sequence[MoveGrade]], *, percentage: PercentageOf
) -> tuple[StrengthRow, ...]:
    """Return one row per group, then the row `total`."""
    everything = [grade for grades in groups.values() for grade in grades]
    rows = (*groups.items(), ("total", everything))
    return tuple(_row(label, grades, percentage) for label, grades in rows)


def sampled(count: int, number: int) -> Percentage:
    """Return `count` of `number` as a sample of a larger set, with Wilson's interval."""
    low, high = wilson(count / number, number)
    return Percentage(count, 100 * count / number, 100 * low, 100 * high)


def exact(count: int, number: int) -> Percentage:
    """Return `count` of `number`, where `number` is the whole set."""
    percent = 100 * count / number
    return Percentage(count, percent, percent, percent)


def _row(label: str, grades: Sequence[MoveGrade], percentage: PercentageOf) -> StrengthRow:
    errors = percentage(sum(grade.is_error for grade in grades), len(grades))
    not_best = percentage(sum(grade.is_not_best for grade in grades), len(grades))
    return StrengthRow(label, len(grades), errors, not_best)
