"""Strength measured by the actors of a run, between their orders."""

import time
from dataclasses import dataclass

from torch import nn

from rookery.games import Game
from rookery.training.actors.pool import ActorPool
from rookery.training.evaluation.player_spec import PlayerSpec
from rookery.training.evaluation.queue import TaskQueue
from rookery.training.evaluation.tasks import StrengthTask, source_of
from rookery.training.measuring import note_unmeasured
from rookery.training.run import Run


@dataclass(frozen=True)
class _Measurement:
    iteration: int
    task: StrengthTask
    queue: TaskQueue
    begun: float


class ActorMeter:
    """Measures with the actors of a run, one measurement at a time."""

    def __init__(self, run: Run, game: Game, actors: ActorPool) -> None:
        self._run, self._game, self._actors = run, game, actors
        self._measurement: _Measurement | None = None

    def start(self, iteration: int, net: nn.Module) -> None:
        """Begin to measure, unless a measurement is under way."""
        if self._measurement is not None:
            return
        config, folder = self._run.config, self._run.folder
        player = PlayerSpec(
            kind="net",
            name="run",
            simulations=config.run.strength_simulations,
            search=config.search,
            weights=folder.pack_weights(net, step=0),
            inference=self._actors.choice.backend,
        )
        task = StrengthTask(source_of(self._game), player, config.run.seed, self._game.digest)
        queue = self._actors.evaluate((task,))
        self._measurement = _Measurement(iteration, task, queue, time.perf_counter())

    def poll(self) -> None:
        """Record a measurement that is complete, or why there is none."""
        if (found := self._measurement) is None:
            return
        if found.queue.failure:
            self._give_up(found.queue.failure)
        elif found.queue.is_done:
            self._measurement = None
            strength = found.task.combine(found.queue.results()[0])
            took = time.perf_counter() - found.begun
            self._run.record_strength(found.iteration, strength, took=took)

    def wait(self) -> None:
        """Wait for the measurement under way, as long as the run's time allows.

        Games that arrive meanwhile are no longer part of the run.
        """
        self.poll()
        while self._measurement is not None:
            self._run.show(
                "measuring", actors=self._actors.actors, measured=self._measurement.queue.share_done
            )
            self._actors.attend_tasks()
            self.poll()
            if self._measurement is not None and self._run.seconds_left() <= 0:
                self._give_up("the run's time is over")

    def _give_up(self, why: str) -> None:
        assert self._measurement is not None
        note_unmeasured(self._run, self._measurement.iteration, why)
        self._actors.evaluate(())
        self._measurement = None
