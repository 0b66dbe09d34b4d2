"""Strength measured while a run trains."""

import time
from functools import cached_property

from torch import nn

from rookery.arena import PartResult, SearchPlayer, strength_test_for
from rookery.games import Game
from rookery.search import Evaluator
from rookery.training.run import Run

RESERVE = 1.1
"""The last measurement may take this many times as long as the one before."""


class LocalMeter:
    """Measures at once, in this process, with the evaluator that plays."""

    def __init__(self, run: Run, game: Game, evaluator: Evaluator) -> None:
        self._run, self._game, self._evaluator = run, game, evaluator

    def start(self, iteration: int, net: nn.Module) -> None:
        """Measure, unless the run's time ends before."""
        test, begun = strength_test_for(self._game), time.perf_counter()
        results: list[PartResult] = []
        for part in range(test.parts):
            if self._run.seconds_left() <= 0:
                note_unmeasured(self._run, iteration, "the run's time is over")
                return
            self._run.show("measuring", measured=part / test.parts)
            results.append(test.measure_part(self._player, part))
        took = time.perf_counter() - begun
        self._run.reserve = RESERVE * took
        self._run.record_strength(iteration, test.combine(results), took=took)

    def poll(self) -> None:
        """Record a measurement that is complete: it was recorded at once."""

    def wait(self) -> None:
        """Wait for the measurement under way: there is none."""

    @cached_property
    def _player(self) -> SearchPlayer:
        config = self._run.config
        return SearchPlayer(
            self._game,
            self._evaluator,
            config=config.search,
            simulations=config.run.strength_simulations,
            seed=config.run.seed,
            name="run",
        )


def note_unmeasured(run: Run, iteration: int, why: str) -> None:
    """Record why the strength of an iteration is not known."""
    run.note(
        f"the strength of iteration {iteration} was not measured: {why}; "
        "`rookery eval` measures a run at any time"
    )
