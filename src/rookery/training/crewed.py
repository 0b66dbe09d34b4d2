"""The ring with a crew: actors in processes of their own play, this process learns.

An actor plays a stretch of moves for every order. Overlapped, it has one more order waiting, so
that it never idles, unless the learner has fallen behind by more than `run.max_lag` iterations;
phased, everybody plays, then everybody waits for the learner. Weights go out with a version after
every iteration: what was played with older ones is stale, and by how much is in the statistics.
"""

import time
from dataclasses import dataclass, replace

import numpy as np

from rookery.gpu import use_device
from rookery.learning import GpuLearner, LearnReport, merge_reports
from rookery.nets import CpuEvaluator, GpuEvaluator
from rookery.replay import DeviceWindow, Window, from_columns, write_shard
from rookery.selfplay import SelfPlayReport, merge_plays
from rookery.training.actors.pool import ActorPool
from rookery.training.evaluation.player_spec import PlayerSpec
from rookery.training.evaluation.queue import TaskQueue
from rookery.training.evaluation.tasks import StrengthTask, source_of
from rookery.training.learners import new_learner
from rookery.training.progress import ActorStatus
from rookery.training.ring import Ring
from rookery.training.store.checkpoint import Arrays, Checkpoint, RunPosition
from rookery.training.trainers.pool import ORDER, TrainerPool
from rookery.workers import Cluster, Message, bytes_array

SLICE = 4
"""Updates between two looks at the crew."""
IDLE_SECONDS = 0.01
PARTS = 4
"""Orders in which an actor plays its moves of an iteration."""


@dataclass(frozen=True)
class Asked:
    """A measurement of strength under way."""

    iteration: int
    case: StrengthTask
    docket: TaskQueue


class CrewedRing(Ring):
    """The parts of a run whose games are played by others."""

    _games_on_gpu = None
    _fleet: ActorPool
    _played: list[SelfPlayReport]
    _learned: list[LearnReport]
    _stale: list[int]
    _asked: Asked | None
    _learner_waited: float
    """Seconds of this iteration in which there was nothing to learn."""
    _games_waited: float
    """Seconds of it in which actors had nothing to do, as too many updates were due."""

    def turn(self) -> None:
        """As many positions as an iteration has, and the updates that are due for them."""
        if not self.crews:
            self._muster()
        begun = self._begin_turn()
        while not self._has_enough():
            self._attend(may_order=True)
            self._learn_or_wait(self._is_overlapped)
        while not self._is_overlapped and self._fleet.is_playing():
            self._attend(may_order=False)
            self._learn_or_wait(False)
        while self._due > (self._most_due() if self._is_overlapped else 0):
            self._attend(may_order=False)
            self._learn_or_wait(True)
        self.iteration += 1
        self._note(time.perf_counter() - begun)
        self._publish()
        run = self.config.run
        if run.strength_every and self.iteration % run.strength_every == 0:
            self._measure()
        if self.iteration % run.checkpoint_every == 0:
            self._save()

    def stop(self) -> None:
        """Keep all that was received and learned."""
        self.watch = lambda moment: None
        self._save()

    def close(self) -> None:
        """End all workers, and leave the cluster."""
        super().close()
        if self._cluster is not None:
            self._cluster.close()

    def _begin_turn(self) -> float:
        self._played, self._learned, self._stale = [], [], []
        self._learner_waited, self._games_waited = 0.0, 0.0
        return time.perf_counter()

    def _has_enough(self) -> bool:
        """Whether an iteration's worth of positions has come in, or the run's time is over."""
        positions = sum(report.positions for report in self._played)
        return positions >= self._fleet.positions or (positions > 0 and self.progress() >= 1.0)

    def _attend(self, *, may_order: bool) -> None:
        """Hear the crew, and give orders to whom has none."""
        for message in self._fleet.hear():
            self._take(message)
        self._fleet.share_docket()
        self._conclude()
        if may_order and not (self._is_overlapped and self._due > self._most_due()):
            header = {
                "moves": max(1, self.config.run.moves // PARTS),
                "progress": self.progress(),
                "iteration": self.iteration,
            }
            self._fleet.order(2 if self._is_overlapped else 1, header)
        self._show("learning" if self._due else "self-play", crew=self._crew_moment())

    def _take(self, message: Message) -> None:
        """Add the games of one order to the window."""
        self._played.append(SelfPlayReport(**message.header["report"]))
        self._stale.append(self.iteration - message.header["version"])
        if message.arrays:
            samples = from_columns(message.arrays, game=self.game)
            write_shard(self._shard(self.window.books.next_shard), samples, game=self.game)
            self.window.add(samples)
            self._due += self.learner.owe(len(samples))
        games = self.moment.games + self._played[-1].games
        latest = self._played[-len(self._fleet.crew.ready()) or -1 :]
        self._show("self-play", games=games, played=merge_plays(latest))

    def _learn_or_wait(self, may_learn: bool) -> None:
        begun = time.perf_counter()
        if not (may_learn and self._due):
            time.sleep(IDLE_SECONDS)
            self._learner_waited += time.perf_counter() - begun
            return
        are_idle = self._is_overlapped and not self._fleet.is_playing()
        updates = min(ORDER if isinstance(self.learner, TrainerPool) else SLICE, self._due)
        learned = self._learn(updates)
        self._due -= updates
        self._learned.append(learned)
        self._games_waited += (time.perf_counter() - begun) * are_idle
        self._show("learning", learned=learned, rows_made=self.window.rows_made)

    def _learn(self, updates: int) -> LearnReport:
        if isinstance(self.learner, GpuLearner):
            return self.learner.enqueue(updates, progress=self.progress())()
        assert isinstance(self.window, Window)
        if isinstance(self.learner, TrainerPool):  # games go on, whatever happens to the trainers
            return self.learner.learn(
                self.window, updates, progress=self.progress(), check=self._attend_meanwhile
            )
        return self.learner.learn(self.window, updates, progress=self.progress())

    def _attend_meanwhile(self) -> None:
        self._attend(may_order=self._is_overlapped)

    def _publish(self) -> None:
        """Hand the newest weights to everybody; whoever comes later gets them too."""
        self.evaluator.load(self.learner.play_net)
        payload = self.folder.pack_weights(self.learner.play_net, step=self.learner.updates)
        weights = {"weights": bytes_array(payload)}
        self._fleet.publish(Message("weights", {"version": self.iteration}, weights))

    def _note(self, seconds: float) -> None:
        waited = {
            "learner_waited": self._learner_waited / seconds,
            "games_waited": self._games_waited / seconds,
        }
        workers = self._fleet.figures(seconds)
        self.stats.append(
            "iteration",
            self.iteration,
            seconds=self.seconds(),
            progress=self.progress(),
            selfplay=merge_plays(self._played),
            learning=merge_reports(self._learned) if self._learned else None,
            window=self._window_statistics(),
            device=self._usage.read(),
            crew={"staleness": float(np.mean(self._stale)), **waited, "workers": workers},
        )
        self._fleet.follow_cluster()
        if self._is_overlapped:
            self._fleet.follow_load(**waited)

    def _measure(self) -> None:
        """Have the crew measure today's net between its orders, one measurement at a time."""
        if not self.crews:
            super()._measure()
            return
        if self._asked is not None:
            return
        run, net = self.config.run, self.learner.play_net
        player = PlayerSpec(
            kind="net",
            name="run",
            simulations=run.strength_simulations,
            search=self.config.search,
            weights=self.folder.pack_weights(net, step=self.learner.updates),
            inference=self.evaluator.backend,
        )
        source, digest = source_of(self.game), self.game.digest
        case = StrengthTask(source, player, run.seed, digest=digest)
        self._asked = Asked(self.iteration, case, self._fleet.evaluate([case]))

    def _conclude(self) -> None:
        """Write down a measurement once it is complete, or why it cannot be."""
        if self._asked is None:
            return
        docket, case, iteration = self._asked.docket, self._asked.case, self._asked.iteration
        if docket.failure:
            self._say(f"the strength of iteration {iteration} is unknown: {docket.failure}")
            self._fleet.evaluate([])
        elif not docket.is_done:
            return
        else:
            self._tell_strength(iteration, case.conclude(docket.looks()[0]))
        self._asked = None

    def _await_strength(self) -> None:
        """Games that come in meanwhile are not part of the run any more."""
        while self._asked is not None:
            for _ in self._fleet.hear():
                continue
            self._fleet.share_docket()
            self._conclude()
            self._show("strength", crew=self._crew_moment())
            time.sleep(IDLE_SECONDS)

    def _crew_moment(self) -> ActorStatus:
        crew = self._fleet.crew
        staleness = float(np.mean(self._stale)) if self._stale else 0.0
        return ActorStatus(len(crew.ready()), crew.size(), staleness)

    def _most_due(self) -> int:
        """Updates that may be due before actors have to wait."""
        learning = self.learner.config
        rows = self.config.run.max_lag * self._fleet.positions
        return int(rows * learning.reuse / learning.batch_size)

    def _save(self) -> None:
        self.boundary = self._checkpoint()
        super()._save()

    def _play_state(self) -> Arrays:
        """Games under way are the actors' own, and begin anew when a run resumes."""
        return {"actors": np.array([1])}

    def _build(self, position: RunPosition | None) -> None:
        run = self.config.run
        learning, inference = self._as_before(position)
        self._is_overlapped = run.mode == "overlapped"
        self._asked = None
        self._cluster = Cluster(run.cluster) if run.cluster else None
        use_device(self.device)
        net, seed = self._new_net(), run.seed
        if self.device.type == "cuda" and learning.method == "single":
            self.window = DeviceWindow(self.game, self.config.replay, self.device)
            self.learner = GpuLearner(
                self.game, net, config=learning, seed=seed, window=self.window
            )
        else:
            self.window = Window(self.game, self.config.replay)
            self.learner = new_learner(
                self.game,
                net,
                config=replace(self.config, learning=learning),
                tell=self._tell,
                cluster=self._cluster,
            )
        self.evaluator = self._new_evaluator(inference)

    def _new_evaluator(self, inference: str) -> CpuEvaluator | GpuEvaluator:
        """How this process measures strength, and all actors on its kind of device play."""
        net, shape = self.learner.play_net, self.game.planes_shape
        if self.device.type == "cuda":
            return GpuEvaluator(net, shape, device=self.device, backend=inference)
        return CpuEvaluator(net, shape, backend=inference, batch_size=self.config.selfplay.games)

    def _muster(self) -> None:
        """Start the actors, and have the weights ready for them."""
        self._fleet = ActorPool(
            self.config,
            inference=self.evaluator.backend,
            era=self.window.rows_made,
            tell=self._tell,
            cluster=self._cluster,
            digest=self.game.digest,
        )
        self.crews.append(self._fleet.crew)
        self._publish()

    def _restore(self, found: Checkpoint) -> None:
        self.learner.restore(found.learner)
        self._due = self.learner.owe(0)
        self.evaluator.load(self.learner.play_net)
        self.window.refill(self._read_shards(found.position), found.position.rows_made)
