"""The ring on the CPU, where it can be stopped and resumed bit for bit."""

from dataclasses import replace

from rookery.learning import LearnReport
from rookery.nets import CpuEvaluator
from rookery.replay import Samples, Window, write_shard
from rookery.selfplay import SelfPlay, SelfPlayReport
from rookery.training.learners import new_learner
from rookery.training.ring import Ring
from rookery.training.store.checkpoint import Checkpoint, RunPosition

COMPILE_AFTER_MINUTES = 5.0
"""Runs longer than this may spend half a minute on compiling the net's forward."""


class HostRing(Ring):
    """The parts of a run on the CPU, each waiting for the one before."""

    evaluator: CpuEvaluator
    selfplay: SelfPlay
    window: Window

    def turn(self) -> None:
        """One iteration: play, remember, learn, hand over the weights."""
        progress = self.progress()
        rows_before = self.window.rows_made
        played = self._play(progress)
        learned = self._learn(self.window.rows_made - rows_before, progress)
        self.iteration += 1
        self._note(played, learned)
        every = self.config.run.strength_every
        if every and self.iteration % every == 0:
            self._measure()  # before the boundary: a run stopped in it measures again
        self.boundary = self._checkpoint()
        if self.iteration % self.config.run.checkpoint_every == 0:
            self._save()

    def stop(self) -> None:
        """Keep what the last whole iteration reached; shards stay, as it may need older ones."""
        self.learner.restore(self.boundary.learner)
        iteration = self.boundary.position.iteration
        if iteration:
            self.folder.save_weights(
                self.learner.play_net, iteration=iteration, step=self.learner.updates
            )
        self.boundary.save(self.folder.path)
        self.stats.forget_after(iteration)

    def _play(self, progress: float) -> SelfPlayReport:
        self._show("self-play", simulations=self.config.selfplay.simulations_at(progress))
        records, played = self.selfplay.play(
            self.config.run.moves, progress=progress, check=lambda: self._show("self-play")
        )
        if records:
            samples = Samples.from_records(records, self.iteration)
            number = self.window.add(samples)
            write_shard(self._shard(number), samples, game=self.game)
        self._show("learning", games=self.moment.games + played.games, played=played)
        return played

    def _learn(self, new_rows: int, progress: float) -> LearnReport | None:
        due = self.learner.owe(new_rows)
        if due == 0:
            return None
        learned = self.learner.learn(
            self.window, due, progress=progress, check=lambda: self._show("learning")
        )
        self.evaluator.load(self.learner.play_net)
        self._show("learning", learned=learned, rows_made=self.window.rows_made)
        return learned

    def _note(self, played: SelfPlayReport, learned: LearnReport | None) -> None:
        self.stats.append(
            "iteration",
            self.iteration,
            seconds=self.seconds(),
            progress=self.progress(),
            selfplay=played,
            learning=learned,
            window=self.window.statistics(self.iteration),
        )

    def _build(self, position: RunPosition | None) -> None:
        config, game = self.config, self.game
        net = self._new_net()
        learning, inference = self._as_before(position)
        self.learner = new_learner(
            game, net, config=replace(config, learning=learning), tell=self._tell
        )
        self.evaluator = CpuEvaluator(
            self.learner.play_net,
            game.planes_shape,
            backend=inference,
            batch_size=config.selfplay.games,
            compile_seconds=30.0 if config.run.minutes > COMPILE_AFTER_MINUTES else 0.0,
        )
        self.selfplay = SelfPlay(
            game,
            self.evaluator,
            config=config.selfplay,
            search=config.search,
            seed=config.run.seed,
        )
        self.window = Window(game, config.replay)

    def _restore(self, found: Checkpoint) -> None:
        position = found.position
        self.learner.restore(found.learner)
        if "roots" in found.selfplay:  # else they were played by a crew, and begin anew
            self.selfplay.restore(found.selfplay)
        self.evaluator.load(self.learner.play_net)
        self.window.refill(self._read_shards(position), position.rows_made)
