"""The ring on a GPU: the host enqueues an iteration and settles the one before meanwhile.

Self-play, the window, learning and the net's weights stay on the device, in one stream. The host
fetches the games that have ended, for the shards and the statistics, one iteration late, so that
the device never waits for it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from rookery.gpu import use_device
from rookery.learning import GpuLearner, LearningConfig, LearnReport
from rookery.nets import GpuEvaluator
from rookery.replay import DeviceWindow, to_samples, write_shard
from rookery.selfplay import DeviceSelfPlay, SelfPlayReport, Stretch
from rookery.training.actors.engines import fit_games
from rookery.training.config import Config
from rookery.training.evaluation.player_spec import fallbacks
from rookery.training.ring import Ring
from rookery.training.store.checkpoint import Checkpoint, RunPosition


@dataclass(frozen=True)
class Pending:
    """An iteration that was enqueued."""

    iteration: int
    stretch: Stretch
    report: Callable[[], LearnReport] | None


class DeviceRing(Ring):
    """The parts of a run on a GPU, none waiting for the host."""

    _games_on_gpu = True
    learner: GpuLearner
    evaluator: GpuEvaluator
    selfplay: DeviceSelfPlay
    window: DeviceWindow
    _pending: Pending | None
    _is_whole: bool
    """Whether all that was collected has been settled or is still pending."""

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

    def stop(self) -> None:
        """Keep what was reached so far."""
        self.watch = lambda moment: None
        if self._is_whole:
            self._save()
        else:  # interrupted on the spot: the last checkpoint stands
            self.stats.forget_after(self.boundary.position.iteration)

    def _enqueue(self, progress: float) -> Pending:
        stretch = self.selfplay.start(self.config.run.moves, progress=progress)
        harvest = stretch.harvest
        self.window.append(harvest.rows, harvest.used[1:], iteration=self.iteration)
        due, self._due = self._due, 0
        report = self._learn(due, progress) if due else None
        if report:
            self.evaluator.load(self.learner.play_net)
        return Pending(self.iteration, stretch, report)

    def _settle(self, pending: Pending | None) -> None:
        """Fetch what an iteration has brought: a shard, updates that are due, a line of stats."""
        if pending is None:
            self._is_whole = True
            return
        rows, played = self.selfplay.finish(pending.stretch)
        samples = to_samples(rows, pending.iteration)
        if len(samples):
            write_shard(self._shard(self.window.books.next_shard), samples, game=self.game)
            self.window.books.enter(len(samples))
            self._due += self.learner.owe(len(samples))
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
            window=self._window_statistics(),
            device=self._usage.read(),
        )

    def _drain(self) -> None:
        self._is_whole = False
        pending, self._pending = self._pending, None
        self._settle(pending)

    def _save(self) -> None:
        self._drain()
        self.boundary = self._checkpoint()
        super()._save()

    def _build(self, position: RunPosition | None) -> None:
        config, game = self.config, self.game
        use_device(self.device)
        self._pending = None
        self._is_whole = True
        learning, inference = self._as_before(position)
        self.window = DeviceWindow(game, config.replay, self.device)
        self.learner = self._new_learner(learning)
        self.evaluator = GpuEvaluator(
            self.learner.play_net, game.planes_shape, device=self.device, backend=inference
        )
        for remark in fallbacks(self.evaluator):
            self._say(remark)
        self.selfplay = self._new_selfplay()

    def _new_learner(self, config: LearningConfig) -> GpuLearner:
        seed = self.config.run.seed
        return GpuLearner(self.game, self._new_net(), config=config, seed=seed, window=self.window)

    def _new_selfplay(self) -> DeviceSelfPlay:
        """Self-play with as many games as are asked for, or as fit."""
        config = self.config
        selfplay = fit_games(config, self.evaluator, rules=self.game, seed=config.run.seed)
        asked, games = config.selfplay.games, selfplay.config.games
        if games < asked:
            self._say(f"{asked} games do not fit into the GPU's memory; going on with {games}")
            self._adapt(replace(config, selfplay=selfplay.config))
        return selfplay

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
        if "roots" in found.selfplay:  # else they were played by a crew, and begin anew
            self.selfplay.restore(found.selfplay)
        self.evaluator.load(self.learner.play_net)
        self.window.refill(self._read_shards(found.position), found.position.rows_made)
