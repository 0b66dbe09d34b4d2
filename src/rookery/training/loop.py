"""The training loop, the same for every kind of run: play, store, learn, publish, measure.

    positions --> search --> rows --> replay window --> learner --> weights
        ^                                                              |
        +------------------------ evaluator <--------------------------+

Who plays and who learns is chosen in `factory`: CPU threads, a GPU that is one iteration ahead of
the host, actors in other processes; this process, a thread beside self-play, a captured graph on a
GPU, trainers.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from rookery.learning import LearningDiverged, LearnReport
from rookery.learning import merge_reports as merge_learned
from rookery.nets import NotFinite
from rookery.replay import Rows, Window, count, write_shard
from rookery.selfplay import Played, SelfPlayReport
from rookery.selfplay import merge_reports as merge_played
from rookery.training.overlap import Learn, LearningThread
from rookery.training.progress import Stopped
from rookery.training.roles import Check, Learner, SelfPlay, StrengthMeter
from rookery.training.run import Run
from rookery.training.self_players import Step
from rookery.training.store.checkpoint import Checkpoint, RunPosition

FAILURES = (LearningDiverged, NotFinite, RuntimeError)
"""Learning that failed; torch raises RuntimeError, also if a device has no memory left."""
LEARNING_FAILED = "learning failed"
"""The beginning of the note about it."""


class TrainingLoop:
    """The parts of a run, and the order in which they work."""

    def __init__(
        self,
        run: Run,
        selfplay: SelfPlay,
        window: Window,
        learner: Learner,
        meter: StrengthMeter,
        *,
        thread: LearningThread | None = None,
        scale: Check = lambda: None,
    ) -> None:
        """With `thread`, the updates that are due are made while the next games are played.

        `scale` may change the workers; it is called often, but not while the learner learns.
        """
        self._thread = thread
        self.run, self.selfplay, self.window = run, selfplay, window
        self.given = run.folder.given_shards()
        self.learner, self.meter, self._scale = learner, meter, scale
        self.rows_owed = 0.0
        """Rows that are still to be learned from, for the rows that have arrived."""
        self._good_state: Checkpoint
        """What to go back to: the end of an iteration."""
        self._failures = 0
        """Failures of learning since the last checkpoint."""
        self._played: list[SelfPlayReport] = []
        self._learned: list[LearnReport] = []
        """Reports that are not yet recorded."""
        self._recorded = run.iteration
        """The last iteration that was recorded."""

    def train(self) -> None:
        """Train until the run's time or iterations are over, or the callback raises Stopped."""
        try:
            self._good_state = self._snapshot()
            self._publish()
            while self.run.progress() < 1.0:
                self.run_iteration()
            self.finish()
        except Stopped:
            self.stop()

    def run_iteration(self) -> None:
        """Play, store, learn, publish the weights, record; measure and checkpoint when due."""
        is_complete = False
        while not is_complete:
            step = self._play_and_learn() if self._thread else self._play()
            self._store(step.played)
            self._take_given()
            if self._thread is None or self.run.progress(more=1) >= 1.0:
                self._learn()
            is_complete = step.is_complete
        self.run.iteration += 1
        self._publish()
        self._record()
        if self._is_due(self.run.config.run.strength_every):
            self._keep_opponent()
            self.meter.start(self.run.iteration, self.learner.play_net)
        if self._resumes_exactly:
            self._good_state = self._snapshot()
        if self._is_due(self.run.config.run.checkpoint_every):
            self.checkpoint()

    def checkpoint(self) -> None:
        """Write weights and checkpoint, then delete the shards that are no longer needed."""
        self.run.show("checkpoint")
        self._drain()
        self._good_state = self._snapshot()
        self._save(self._good_state)
        self.run.delete_shards(self.window.shard_numbers)
        self._failures = 0

    def finish(self) -> None:
        """End a run that has reached its end: checkpoint, and measure the last network."""
        self.checkpoint()
        self.meter.wait()
        if self.run.config.run.strength_every and not self.run.is_measured():
            self.meter.start(self.run.iteration, self.learner.play_net)
            self.meter.wait()
        self.run.record_end()

    def stop(self) -> None:
        """Keep what was reached; an exact run goes back to the end of its last iteration.

        In others the interrupted iteration ends early, so that its games are recorded.
        """
        self.run.callback = lambda progress: None
        if not self._resumes_exactly:
            self._drain()
            if self._played:
                self.run.iteration += 1
                self._record()
            self.checkpoint()
            return
        self.learner.restore(self._good_state.learner)
        self._save(self._good_state)
        self.run.stats.forget_after(self._good_state.position.iteration)

    def restore(self, found: Checkpoint) -> None:
        """Continue from a checkpoint; games that actors play begin again."""
        self.learner.restore(found.learner)
        if found.position.selfplay == self.selfplay.kind:
            self.selfplay.restore(found.selfplay)
        self.rows_owed = found.position.rows_owed
        self.given.taken = found.position.given_shards
        self.given.rows = found.position.given_rows

    @property
    def _resumes_exactly(self) -> bool:
        """Whether a run that is stopped within an iteration goes back to its beginning."""
        return self.selfplay.kind == "cpu"

    def _is_due(self, every: int) -> bool:
        return every > 0 and self.run.iteration % every == 0

    def _play(self) -> Step:
        self._scale()
        progress = self.run.progress()
        simulations = self.run.config.selfplay.simulations_at(progress)
        self._show("self-play", simulations=simulations)
        return self.selfplay.play(self.run.iteration, progress=progress, check=self._check_playing)

    def _store(self, played: tuple[Played, ...]) -> None:
        """Add rows to the window and to a shard on disk; learning from them is now due."""
        for each in played:
            self._played.append(each.report)
            if count(each.rows):
                self._add(each.rows)
            games = self.run.shown.games + each.report.games
            self._show("learning", games=games, played=each.report)

    def _add(self, rows: Rows) -> None:
        number = self.window.add(rows)
        write_shard(self.run.shard(number), rows, game=self.window.game)
        self.rows_owed += self.learner.config.reuse * count(rows)

    def _take_given(self) -> None:
        """Add given games, if any are left, until they have their share of all rows made."""
        share = self.run.config.replay.given_share
        while self.given.is_left and self.given.rows <= share * self.window.rows_made:
            self._add(self.given.take())

    def _learn(self) -> None:
        """Make all updates that are due; those of a failed call are made again."""
        while learn := self._due_updates():
            self._try(partial(learn, self._check_learning), since=self.learner.updates)

    def _play_and_learn(self) -> Step:
        """Play while the thread makes the updates that are due; if it fails, make them again."""
        assert self._thread is not None
        learn, before = self._due_updates(), self.learner.updates
        if learn is None:
            return self._play()
        self._thread.start(learn)
        try:
            step = self._play()
        except BaseException:
            self._thread.stop()
            raise
        self._try(partial(self._thread.finish, self._check_learning), since=before)
        self._learn()
        return step

    def _due_updates(self) -> Learn | None:
        """Return a function that makes the updates that are due, None if there are none."""
        num_updates = int(max(self.rows_owed, 0) // self.learner.config.batch_size)
        if num_updates == 0:
            return None
        learn, progress = self.learner.learn, self.run.progress()
        return lambda check: learn(self.window, num_updates, progress=progress, check=check)

    def _try(self, learn: Callable[[], LearnReport | None], *, since: int) -> None:
        """Keep the report of `learn`, or go back if it fails; charge the updates since `since`."""
        report = failure = None
        try:
            report = learn()
        except FAILURES as error:
            failure = error
        finally:
            self._charge(since)
        if failure is not None:
            self._go_back(failure)
        elif report is not None:
            self._learned.append(report)
            self._show("learning", learned=report, rows_made=self.window.rows_made)

    def _charge(self, before: int) -> None:
        """Count the updates made since update `before`; those that are lost are owed again."""
        self.rows_owed -= self.learner.config.batch_size * (self.learner.updates - before)

    def _check_playing(self) -> None:
        self._scale()
        self._show("self-play")

    def _check_learning(self) -> None:
        self.selfplay.attend()
        self._show("learning")

    def _go_back(self, error: Exception) -> None:
        """Continue from the last good state with half the learning rate; end if that is no use."""
        self._failures += 1
        before = self.learner.updates
        self.learner.restore(self._good_state.learner)
        self._charge(before)
        self._learned = []
        if self._failures > self.learner.config.retries:
            self.stop()
            raise error
        self.learner.set_learning_rate(self.learner.config.learning_rate / 2)
        learning = self.run.config.learning
        learning = replace(learning, learning_rate=learning.learning_rate / 2)
        self.run.adapt(
            replace(self.run.config, learning=learning),
            f"{LEARNING_FAILED} ({error}); continuing from update {self.learner.updates} with half "
            f"the learning rate, at its peak {learning.learning_rate:g}",
        )

    def _publish(self) -> None:
        net, step = self.learner.play_net, self.learner.updates
        try:
            self.selfplay.publish(
                net, self.run.iteration, lambda: self.run.folder.pack_weights(net, step=step)
            )
        except NotFinite as error:
            self._go_back(error)
            self._publish()

    def _record(self) -> None:
        """Record one line per iteration; on a GPU one iteration late.

        What actors send after the line of an iteration belongs to the next one.
        """
        if self._played and self._recorded < self.run.iteration:
            self._recorded += 1
            self.run.record_iteration(
                self._recorded,
                merge_played(self._played),
                merge_learned(self._learned) if self._learned else None,
                self.window,
                is_exact=self._resumes_exactly,
                given_rows=self.given.rows,
                **self.selfplay.figures(),
            )
            self._played, self._learned = [], []
        self.meter.poll()

    def _show(self, phase: str, **news: object) -> None:
        self.run.show(phase, actors=self.selfplay.actors, **news)

    def _drain(self) -> None:
        """Store what is still in flight."""
        played = self.selfplay.drain()
        self._store(played)
        num_reports = len(self._learned)
        self._try(self.learner.drain, since=self.learner.updates)
        if played or len(self._learned) > num_reports:
            self._record()

    def _snapshot(self) -> Checkpoint:
        before = self.learner.updates
        learner = self.learner.state()  # trainers that were interrupted reach their goal first
        self._charge(before)
        position = RunPosition(
            iteration=self.run.iteration,
            seconds=self.run.seconds(),
            rows_made=self.window.rows_made,
            rows_owed=self.rows_owed,
            shards=self.window.shard_numbers,
            selfplay=self.selfplay.kind,
            inference=self.selfplay.choice.backend,
            precision=self.learner.precision,
            given_shards=self.given.taken,
            given_rows=self.given.rows,
        )
        return Checkpoint.copy(position, learner, self.selfplay.state())

    def _keep_opponent(self) -> None:
        """Write the weights that later networks will play against, once there is a checkpoint.

        Without one, weights would look as if it had been lost.
        """
        if self.run.config.run.elo_games and self.run.folder.has_checkpoint():
            net, step = self.learner.play_net, self.learner.updates
            self.run.folder.save_weights(net, iteration=self.run.iteration, step=step)

    def _save(self, checkpoint: Checkpoint) -> None:
        if iteration := checkpoint.position.iteration:
            net, step = self.learner.play_net, self.learner.updates
            self.run.folder.save_weights(net, iteration=iteration, step=step)
        self.run.save_checkpoint(checkpoint)
