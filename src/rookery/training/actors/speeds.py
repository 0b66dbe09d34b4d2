"""Actors that are slower than the others."""

from collections import Counter
from collections.abc import Mapping
from statistics import median

SLOW_SHARE = 0.5
"""An actor that plays less than this share of what the others play is called slow."""
SLOW_ITERATIONS = 3
"""Iterations in a row before a slow actor is reported."""


class ActorSpeeds:
    """Counts for how many iterations actors have been slow."""

    def __init__(self) -> None:
        self._slow: Counter[int] = Counter()

    def newly_slow(self, rates: Mapping[int, float]) -> dict[int, str]:
        """Return the actors to report after an iteration, with what to say, by positions/s."""
        found = {}
        for number, rate in rates.items():
            others = [other_rate for other, other_rate in rates.items() if other != number]
            usual = median(others) if others else 0.0
            self._slow[number] = self._slow[number] + 1 if rate < SLOW_SHARE * usual else 0
            if self._slow[number] == SLOW_ITERATIONS:
                found[number] = f"is slow: {rate:.0f} positions/s, the others {usual:.0f}"
        return found
