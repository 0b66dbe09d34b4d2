"""Strength measured by the actors of a run, between their orders."""

import time
from dataclasses import dataclass, replace
from math import ceil

from torch import nn

from rookery.base import RookeryError
from rookery.games import Game
from rookery.nets import pack
from rookery.training.actors.pool import ActorPool
from rookery.training.elo import EloPlan, EloRecorder
from rookery.training.evaluation.player_spec import PlayerSpec
from rookery.training.evaluation.queue import TaskQueue
from rookery.training.evaluation.tasks import PairsTask, StrengthTask, source_of
from rookery.training.measuring import note_unmeasured
from rookery.training.run import Run


@dataclass(frozen=True)
class _Measurement:
    iteration: int
    strength: StrengthTask
    elo: tuple[EloPlan, PairsTask] | None
    queue: TaskQueue
    begun: float


class ActorMeter:
    """Measures with the actors of a run, one measurement at a time."""

    def __init__(self, run: Run, game: Game, actors: ActorPool) -> None:
        self._run, self._game, self._actors = run, game, actors
        self._elo = EloRecorder(run, game)
        self._measurement: _Measurement | None = None

    def start(self, iteration: int, net: nn.Module) -> None:
        """Begin to measure, unless a measurement is under way."""
        if self._measurement is not None:
            return
        config, game = self._run.config, self._game
        player = PlayerSpec(
            kind="net",
            name="run",
            simulations=config.run.strength_simulations,
            search=config.search,
            weights=self._run.folder.pack_weights(net, step=0),
            inference=self._actors.choice.backend,
        )
        task = StrengthTask(source_of(game), player, config.run.seed, game.digest)
        elo = self._plan_elo(iteration, player)
        queue = self._actors.evaluate((task, elo[1]) if elo else (task,))
        self._measurement = _Measurement(iteration, task, elo, queue, time.perf_counter())

    def poll(self) -> None:
        """Record a measurement that is complete, or why there is none."""
        if (found := self._measurement) is None:
            return
        if found.queue.failure:
            self._give_up(found.queue.failure)
        elif found.queue.is_done:
            self._measurement = None
            strength, *games = found.queue.results()
            took = time.perf_counter() - found.begun
            self._run.record_strength(found.iteration, found.strength.combine(strength), took=took)
            if found.elo:
                plan, task = found.elo
                took = found.queue.seconds[1] / max(1, self._actors.pool.size())
                self._elo.record(plan, task.combine(games[0]), took=took)

    def _plan_elo(self, iteration: int, player: PlayerSpec) -> tuple[EloPlan, PairsTask] | None:
        """Return the games for Elo, if there are any to play now."""
        config, plan = self._run.config.run, self._elo.plan(iteration)
        if plan is None:
            return None
        player = replace(player, simulations=config.elo_simulations)
        try:
            opponents = tuple(self._opponent(name, player) for name in plan.opponents)
        except RookeryError as error:
            self._elo.give_up(str(error))
            return None
        task = PairsTask(
            source_of(self._game),
            player,
            opponents,
            plan.pairs,
            seed=plan.seed,
            part_size=ceil(len(plan.pairs) / max(1, self._actors.pool.size())),
            digest=self._game.digest,
        )
        return plan, task

    def _opponent(self, name: str, player: PlayerSpec) -> PlayerSpec:
        if not name.isdecimal():
            return PlayerSpec("plain", name=name)
        earlier = self._run.folder.load_weights(int(name))
        return replace(player, weights=pack(earlier.state, earlier.header))

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
