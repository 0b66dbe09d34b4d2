"""The ring in one process: self-play, replay, learning, weights, and round again."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from rookery.arena import SearchPlayer, Strength, ruler_for
from rookery.learning import Learner, LearnReport
from rookery.nets import Evaluator, build_net
from rookery.replay import Samples, Window, read_shard, shard_path, write_shard
from rookery.run.checkpoint import Checkpoint, Position, copied
from rookery.run.folder import RunFolder
from rookery.run.stats import Stats
from rookery.selfplay import SelfPlay, SelfPlayReport

COMPILE_AFTER_MINUTES = 5.0
"""Runs longer than this may spend half a minute on compiling the net's forward."""


class Stopped(Exception):
    """Raised by a watcher to end the run; what was reached is kept."""


@dataclass(frozen=True)
class Moment:
    """What a watcher sees, several times a second."""

    phase: str
    """self-play, learning, strength or checkpoint."""
    iteration: int
    progress: float
    seconds: float
    simulations: int = 0
    games: int = 0
    rows_made: int = 0
    played: SelfPlayReport | None = None
    learned: LearnReport | None = None
    strength: Strength | None = None


Watcher = Callable[[Moment], None]


def train(folder: RunFolder, watch: Watcher) -> Moment:
    """Train until the run's time or iterations are over, or `watch` raises Stopped."""
    with folder.lock():
        ring = Ring(folder, watch)
        try:
            while ring.progress() < 1.0:
                ring.turn()
            ring.finish()
        except Stopped:
            ring.stop()
        return ring.moment


class Ring:
    """The parts of a run and where it stands."""

    def __init__(self, folder: RunFolder, watch: Watcher) -> None:
        self.folder, self.watch = folder, watch
        self.config, self.game = folder.config, folder.game
        self.stats = Stats(folder.path)
        self.begun = time.perf_counter()
        found = Checkpoint.load(folder.path)
        self.seconds_before = found.position.seconds if found else 0.0
        self.iteration = found.position.iteration if found else 0
        self._build(found.position if found else None)
        self.stats.forget_after(self.iteration)
        if found:
            self._restore(found)
        self.moment = Moment("self-play", self.iteration, self.progress(), self.seconds())
        self.boundary = self._checkpoint()
        self.stats.append(
            "resumed" if found else "started",
            self.iteration,
            inference=self.evaluator.choice,
            precision=self.learner.precision,
            threads=torch.get_num_threads(),
        )

    def seconds(self) -> float:
        """Time this run has taken so far, earlier stretches included."""
        return self.seconds_before + time.perf_counter() - self.begun

    def progress(self) -> float:
        """How much of the run is done, from 0 to 1."""
        return self.config.run.progress(self.seconds(), self.iteration)

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

    def finish(self) -> None:
        """The last words of a run that has reached its end."""
        self._save()
        every = self.config.run.strength_every
        if every and self.iteration % every != 0:
            self._measure()
        self.stats.append("finished", self.iteration, seconds=self.seconds())

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

    def _measure(self) -> None:
        self._show("strength")
        simulations = self.config.run.strength_simulations
        player = SearchPlayer(
            self.game,
            self.evaluator,
            config=self.config.search,
            simulations=simulations,
            seed=self.config.run.seed,
            name="run",
        )
        strength = ruler_for(self.game).measure(player)
        self._show("strength", strength=strength)
        self.stats.append(
            "strength",
            self.iteration,
            seconds=self.seconds(),
            simulations=simulations,
            strength=strength,
        )

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

    def _show(self, phase: str, **news: object) -> None:
        self.moment = replace(
            self.moment,
            phase=phase,
            iteration=self.iteration,
            progress=self.progress(),
            seconds=self.seconds(),
            **news,  # type: ignore[arg-type]
        )
        self.watch(self.moment)

    def _save(self) -> None:
        """Write checkpoint and weights, then delete the shards no longer needed."""
        self._show("checkpoint")
        self.folder.save_weights(
            self.learner.play_net, iteration=self.iteration, step=self.learner.updates
        )
        self.boundary.save(self.folder.path)
        needed = {self._shard(number) for number in self.window.shard_numbers}
        for path in (self.folder.path / "replay").glob("*.shard"):
            if path not in needed:
                path.unlink()

    def _checkpoint(self) -> Checkpoint:
        position = Position(
            iteration=self.iteration,
            seconds=self.seconds(),
            rows_made=self.window.rows_made,
            shards=self.window.shard_numbers,
            inference=self.evaluator.method,
            precision=self.learner.precision,
        )
        return Checkpoint(position, copied(self.learner.state()), copied(self.selfplay.state()))

    def _shard(self, number: int) -> Path:
        return shard_path(self.folder.path / "replay", number)

    def _build(self, position: Position | None) -> None:
        config, game = self.config, self.game
        torch.manual_seed(config.run.seed)
        net = build_net(config.net, game.planes_shape, game.num_actions)
        learning, inference = config.learning, config.run.inference
        if position and learning.precision == "auto":
            learning = replace(learning, precision=position.precision)
        if position and inference == "auto":
            inference = position.inference
        self.learner = Learner(game, net, config=learning, seed=config.run.seed)
        self.evaluator = Evaluator(
            self.learner.play_net,
            game.planes_shape,
            method=inference,
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
        self.selfplay.restore(found.selfplay)
        self.evaluator.load(self.learner.play_net)
        self.window = Window.restore(
            self.game,
            self.config.replay,
            shards=(
                (number, read_shard(self._shard(number), game=self.game))
                for number in position.shards
            ),
            rows_made=position.rows_made,
        )
