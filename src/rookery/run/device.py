"""The ring on a GPU: the host enqueues an iteration and settles the one before meanwhile.

Self-play, the window, learning and the net's weights stay on the device, in one stream. The host
fetches the games that have ended, for the shards and the statistics, one iteration late, so that
the device never waits for it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from rookery.learning import DeviceLearner, LearningConfig, LearnReport
from rookery.nets import CudaEvaluator
from rookery.replay import DeviceWindow, WindowStatistics, to_samples, write_shard
from rookery.run.checkpoint import Checkpoint, Position
from rookery.run.config import Config
from rookery.run.ring import Ring
from rookery.runtime import Stopwatch, Usage, use_device
from rookery.selfplay import Counts, DeviceSelfPlay, Harvest, SelfPlayReport, report_rows

FEWEST_GAMES = 16
"""With fewer, a GPU's memory is not what is missing."""
STATISTICS_SECONDS = 10.0
"""Between two looks at the whole window, for which the host must wait."""


@dataclass(frozen=True)
class Pending:
    """An iteration that was enqueued."""

    iteration: int
    harvest: Harvest
    simulations: int
    watch: Stopwatch
    report: Callable[[], LearnReport] | None


class DeviceRing(Ring):
    """The parts of a run on a GPU, none waiting for the host."""

    _games_on_gpu = True
    learner: DeviceLearner
    evaluator: CudaEvaluator
    selfplay: DeviceSelfPlay
    window: DeviceWindow
    _pending: Pending | None
    _due: int
    """Updates that are due for rows of settled iterations."""
    _counts: Counts
    _is_whole: bool
    """Whether all that was collected has been settled or is still pending."""
    _statistics: tuple[float, WindowStatistics] | None

    def turn(self) -> None:
        """Enqueue one iteration, settle the one before."""
        progress = self.progress()
        self._show("self-play", simulations=self.config.selfplay.simulations_at(progress))
        self._is_whole = False
        pending = self._enqueue(progress)
        self.iteration += 1
        previous, self._pending = self._pending, pending
        self._settle(previous)
        run = self.config.run
        if run.strength_every and self.iteration % run.strength_every == 0:
            self._measure()
        if self.iteration % run.checkpoint_every == 0:
            self._save()

    def _last_words(self) -> dict[str, Any]:
        return {"device": self._usage.overall()}

    def stop(self) -> None:
        """Keep what was reached so far."""
        self.watch = lambda moment: None
        if self._is_whole:
            self._save()
        else:  # interrupted on the spot: the last checkpoint stands
            self.stats.forget_after(self.boundary.position.iteration)

    def _enqueue(self, progress: float) -> Pending:
        watch = Stopwatch(self.device)
        simulations = self.selfplay.play(self.config.run.moves, progress=progress)
        harvest = self.selfplay.collect()
        watch.stop()
        self.window.append(harvest.rows, harvest.used[1:], iteration=self.iteration)
        due, self._due = self._due, 0
        report = self._learn(due, progress) if due else None
        if report:
            self.evaluator.load(self.learner.play_net)
        return Pending(self.iteration, harvest, simulations, watch, report)

    def _settle(self, pending: Pending | None) -> None:
        """Fetch what an iteration has brought: a shard, updates that are due, a line of stats."""
        if pending is None:
            self._is_whole = True
            return
        rows, counts = pending.harvest.fetch()
        samples = to_samples(rows, pending.iteration)
        if len(samples):
            write_shard(self._shard(self.window.books.next_shard), samples, game=self.game)
            self.window.books.enter(len(samples))
            self._due += self.learner.owe(len(samples))
        played = report_rows(
            rows,
            positions=counts.turns - self._counts.turns,
            simulations=pending.simulations,
            evaluations=counts.evaluations - self._counts.evaluations,
            seconds=pending.watch.seconds(),
        )
        self._counts = counts
        learned = pending.report() if pending.report else None
        self._append_stats(pending, played, learned)
        self.evaluator.check()
        self._is_whole = True
        news = {"games": self.moment.games + played.games, "rows_made": self.window.rows_made}
        self._show("collecting", played=played, learned=learned or self.moment.learned, **news)

    def _append_stats(
        self, pending: Pending, played: SelfPlayReport, learned: LearnReport | None
    ) -> None:
        self.stats.append(
            "iteration",
            pending.iteration + 1,
            seconds=self.seconds(),
            progress=self.progress(),
            selfplay=played,
            learning=learned,
            window=self._window_statistics(self.iteration),
            device=self._usage.read(),
        )

    def _window_statistics(self, iteration: int) -> WindowStatistics:
        if self._statistics is None or self.seconds() > self._statistics[0] + STATISTICS_SECONDS:
            self._statistics = (self.seconds(), self.window.statistics(iteration))
        books = self.window.books
        return replace(self._statistics[1], rows=books.rows, rows_made=books.rows_made)

    def _drain(self) -> None:
        self._is_whole = False
        pending, self._pending = self._pending, None
        self._settle(pending)

    def _save(self) -> None:
        self._drain()
        self.boundary = self._checkpoint()
        super()._save()

    def _checkpoint(self) -> Checkpoint:
        checkpoint = super()._checkpoint()
        owed = self.learner.rows_owed + self._due * self.config.learning.batch_size
        return replace(checkpoint, learner={**checkpoint.learner, "rows_owed": np.array([owed])})

    def _build(self, position: Position | None) -> None:
        config, game = self.config, self.game
        use_device(self.device)
        self._pending = None
        self._is_whole = True
        self._due = 0
        self._counts = Counts(0, 0, 0, 0)
        self._statistics = None
        self._usage = Usage(self.device)
        learning, inference = self._as_before(position)
        self.window = DeviceWindow(game, config.replay, self.device)
        self.learner = self._new_learner(learning)
        self.evaluator = CudaEvaluator(
            self.learner.play_net, game.planes_shape, device=self.device, method=inference
        )
        for method, reason in self.evaluator.choice.dropped.items():
            self._say(f"the net runs by {self.evaluator.method}: {method} {reason}")
        self.selfplay = self._new_selfplay()

    def _new_learner(self, config: LearningConfig) -> DeviceLearner:
        seed = self.config.run.seed
        return DeviceLearner(
            self.game, self._new_net(), config=config, seed=seed, window=self.window
        )

    def _new_selfplay(self) -> DeviceSelfPlay:
        """Self-play with as many games as are asked for, or as fit."""
        config = self.config
        try:
            return DeviceSelfPlay(
                self.game,
                self.evaluator,
                config=config.selfplay,
                search=config.search,
                moves=config.run.moves,
                seed=config.run.seed,
            )
        except torch.cuda.OutOfMemoryError:
            games = config.selfplay.games // 2
            if games < FEWEST_GAMES:
                raise
        self._say(f"{2 * games} games do not fit into the GPU's memory; going on with {games}")
        self._adapt(replace(config, selfplay=replace(config.selfplay, games=games)))
        return self._new_selfplay()

    def _learn(self, due: int, progress: float) -> Callable[[], LearnReport]:
        """Enqueue updates; batches that do not fit are computed in more parts."""
        try:
            return self.learner.enqueue(due, progress=progress)
        except torch.cuda.OutOfMemoryError:
            learning = self.config.learning
            parts = 2 * learning.accumulate
            if learning.batch_size % parts:
                raise
        self._say(f"a batch does not fit into the GPU's memory; learning in {parts} parts")
        self._adapt(replace(self.config, learning=replace(learning, accumulate=parts)))
        state, precision = self.learner.state(), self.learner.precision
        self.learner = self._new_learner(replace(self.config.learning, precision=precision))
        self.learner.restore(state)
        return self._learn(due, progress)

    def _adapt(self, config: Config) -> None:
        """Go on with other settings, and write them down."""
        torch.cuda.empty_cache()
        self.config = config
        self.folder.adapt(config)

    def _restore(self, found: Checkpoint) -> None:
        self.learner.restore(found.learner)
        self._due = self.learner.owe(0)
        self.selfplay.restore(found.selfplay)
        self.evaluator.load(self.learner.play_net)
        self.window.refill(self._read_shards(found.position), found.position.rows_made)
