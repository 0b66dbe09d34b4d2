"""Strength measured while a run trains."""

import time
from collections import defaultdict
from collections.abc import Callable
from functools import cached_property, partial

from torch import nn

from rookery.arena import (
    PartResult,
    Player,
    SearchPlayer,
    named_player,
    play_pairs,
    strength_test_for,
)
from rookery.base import RookeryError
from rookery.games import Game
from rookery.nets import CpuEvaluator, GpuEvaluator
from rookery.training.elo import EloPlan, EloRecorder
from rookery.training.run import Run
from rookery.training.store.stats import Stats

NetEvaluator = CpuEvaluator | GpuEvaluator

RESERVE = 1.1
"""The last measurement may take this many times as long as the one before."""


class LocalMeter:
    """Measures at once, in this process, with the evaluator that plays."""

    def __init__(
        self,
        run: Run,
        game: Game,
        evaluator: NetEvaluator,
        new_evaluator: Callable[[nn.Module], NetEvaluator],
    ) -> None:
        """`new_evaluator` returns an evaluator of another network, on the same device."""
        self._run, self._game, self._evaluator = run, game, evaluator
        self._new_evaluator = new_evaluator
        self._elo = EloRecorder(run, game)
        self._rivals: list[tuple[NetEvaluator, SearchPlayer]] = []
        """Players with earlier networks; their trees and captured graphs are kept."""
        if took := longest_measurement(run.stats):
            run.reserve = RESERVE * took

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
        self._run.record_strength(iteration, test.combine(results), took=took)
        if plan := self._elo.plan(iteration):
            self._measure_elo(plan)
        self._run.reserve = RESERVE * (time.perf_counter() - begun)

    def poll(self) -> None:
        """Record a measurement that is complete: it was recorded at once."""

    def wait(self) -> None:
        """Wait for the measurement under way: there is none."""

    def _measure_elo(self, plan: EloPlan) -> None:
        begun = time.perf_counter()
        try:
            opponents = self._opponents(plan)
        except RookeryError as error:
            self._elo.give_up(str(error))
            return
        played = play_pairs(
            self._game,
            self._elo_player,
            opponents,
            plan.pairs,
            check=lambda: self._run.show("measuring"),
        )
        self._elo.record(plan, played, took=time.perf_counter() - begun)

    def _opponents(self, plan: EloPlan) -> list[Player]:
        """Return the players of a plan: anchors, and as many networks as it names."""
        networks = [int(name) for name in plan.opponents if name.isdecimal()]
        rivals = {str(n): self._rival(slot, n) for slot, n in enumerate(networks)}
        return [
            rivals[name] if name in rivals else named_player(name, self._game, seed=plan.seed)
            for name in plan.opponents
        ]

    def _rival(self, slot: int, iteration: int) -> Player:
        """Return a player with the network of an earlier iteration."""
        net = self._run.folder.load_weights(iteration).build().to(self._run.device)
        if slot == len(self._rivals):
            evaluator = self._new_evaluator(net)
            self._rivals.append((evaluator, self._search_player(evaluator)))
        evaluator, player = self._rivals[slot]
        evaluator.load(net)
        return player

    @cached_property
    def _player(self) -> SearchPlayer:
        simulations = self._run.config.run.strength_simulations
        return self._search_player(self._evaluator, simulations)

    @cached_property
    def _elo_player(self) -> SearchPlayer:
        return self._search_player(self._evaluator)

    def _search_player(
        self, evaluator: NetEvaluator, simulations: int | None = None
    ) -> SearchPlayer:
        """Return a player; by default with the simulations of games for Elo."""
        config = self._run.config
        return SearchPlayer(
            self._game,
            evaluator,
            config=config.search,
            simulations=config.run.elo_simulations if simulations is None else simulations,
            seed=config.run.seed,
            name="run",
            on_smaller_parts=partial(self._run.fall_back, "memory"),
        )


def longest_measurement(stats: Stats) -> float:
    """Return the seconds of the longest measurement, of errors and Elo together; 0 if none."""
    seconds = defaultdict[int, float](float)
    for line in stats.lines():
        if line["kind"] in ("strength", "elo") and isinstance(took := line.get("took"), float):
            seconds[line["iteration"]] += took
    return max(seconds.values(), default=0.0)


def note_unmeasured(run: Run, iteration: int, why: str) -> None:
    """Record why the strength of an iteration is not known."""
    run.note(
        f"the strength of iteration {iteration} was not measured: {why}; "
        "`rookery eval` measures a run at any time"
    )
