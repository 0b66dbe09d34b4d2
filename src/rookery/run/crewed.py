"""The ring with a crew: actors in processes of their own play, this process learns.

An actor plays a stretch of moves for every order. Overlapped, it has one more order waiting, so
that it never idles, unless the learner has fallen behind by more than `run.max_lag` iterations;
phased, everybody plays, then everybody waits for the learner. Weights go out with a version after
every iteration: what was played with older ones is stale, and by how much is in the statistics.
"""

import os
import time
from collections import Counter
from dataclasses import replace

import numpy as np

from rookery import __version__
from rookery.learning import Learner, LearnReport, merge_reports
from rookery.nets import Evaluator
from rookery.replay import Window, from_columns, write_shard
from rookery.run.checkpoint import Arrays, Checkpoint, Position
from rookery.run.config import to_json
from rookery.run.ring import Ring
from rookery.run.roles import actor, thread_limits
from rookery.runtime import Crew, Event, LocalWorker, Message, text_array
from rookery.selfplay import SelfPlayReport, merge_plays

SLICE = 4
"""Updates between two looks at the crew."""
IDLE_SECONDS = 0.01
ORDERS = 4
"""Orders in which an actor plays its moves of an iteration."""


class CrewedRing(Ring):
    """The parts of a run whose games are played by others."""

    evaluator: Evaluator
    window: Window
    _games_on_gpu = None
    _due: int
    """Updates that are due for the rows received."""
    _played: list[SelfPlayReport]
    _learned: list[LearnReport]
    _stale: list[int]

    def turn(self) -> None:
        """As many positions as an iteration has, and the updates that are due for them."""
        if not self.crews:
            self._muster()
        self._played, self._learned, self._stale = [], [], []
        while not self._has_enough():
            self._attend(may_order=True)
            self._learn_or_wait(self._is_overlapped)
        while not self._is_overlapped and self._is_playing():
            self._attend(may_order=False)
            self._learn_or_wait(False)
        while self._due > (self._most_due() if self._is_overlapped else 0):
            self._attend(may_order=False)
            self._learn_or_wait(True)
        self.iteration += 1
        self._note()
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

    def _has_enough(self) -> bool:
        """Whether an iteration's worth of positions has come in, or the run's time is over."""
        quota = self.config.selfplay.games * self.config.run.moves
        positions = sum(report.positions for report in self._played)
        return positions >= quota or (positions > 0 and self.progress() >= 1.0)

    def _is_playing(self) -> bool:
        return any(self._orders[number] for number in self._crew.ready())

    def _attend(self, *, may_order: bool) -> None:
        """Hear the crew, and give orders to whom has none."""
        for number, message in self._crew.poll():
            if message.kind == "ready":
                self._welcome(number, message)
            elif message.kind == "games":
                self._take(number, message)
        if may_order and not (self._is_overlapped and self._due > self._most_due()):
            for number in self._crew.ready():
                while self._orders[number] < (2 if self._is_overlapped else 1):
                    self._order(number)
        self._show("learning" if self._due else "self-play")

    def _welcome(self, number: int, message: Message) -> None:
        """Give a new actor the weights, unless it comes from another Rookery than this one."""
        if message.header["rookery"] != __version__:
            version = message.header["rookery"]
            self._crew.dismiss(number, f"runs rookery {version}, expected {__version__}")
            return
        self._orders[number] = 0
        self._crew.send(number, self._weights)

    def _order(self, number: int) -> None:
        self._orders[number] += 1
        self._serial += 1
        header = {
            "order": self._serial,
            "moves": max(1, self.config.run.moves // ORDERS),
            "progress": self.progress(),
            "iteration": self.iteration,
        }
        self._crew.send(number, Message("play", header))

    def _take(self, number: int, message: Message) -> None:
        """Add the games of one order to the window, once."""
        self._orders[number] -= 1
        if message.header["order"] in self._taken:
            return
        self._taken.add(message.header["order"])
        self._played.append(SelfPlayReport(**message.header["report"]))
        self._stale.append(self.iteration - message.header["version"])
        if message.arrays:
            samples = from_columns(message.arrays, game=self.game)
            write_shard(self._shard(self.window.books.next_shard), samples, game=self.game)
            self.window.add(samples)
            self._due += self.learner.owe(len(samples))
        games = self.moment.games + self._played[-1].games
        self._show("self-play", games=games, played=merge_plays(self._played[-self._size :]))

    def _learn_or_wait(self, may_learn: bool) -> None:
        if not (may_learn and self._due):
            time.sleep(IDLE_SECONDS)
            return
        updates = min(SLICE, self._due)
        learned = self.learner.learn(self.window, updates, progress=self.progress())
        self._due -= updates
        self._learned.append(learned)
        self._show("learning", learned=learned, rows_made=self.window.rows_made)

    def _publish(self) -> None:
        """Hand the newest weights to everybody; whoever comes later gets them too."""
        self.evaluator.load(self.learner.play_net)
        payload = self.folder.pack_weights(self.learner.play_net, step=self.learner.updates)
        self._weights = Message(
            "weights", {"version": self.iteration}, {"weights": text_array(payload)}
        )
        for number in self._crew.ready():
            self._crew.send(number, self._weights)

    def _note(self) -> None:
        self.stats.append(
            "iteration",
            self.iteration,
            seconds=self.seconds(),
            progress=self.progress(),
            selfplay=merge_plays(self._played),
            learning=merge_reports(self._learned) if self._learned else None,
            window=self.window.statistics(self.iteration),
            crew={
                "actors": len(self._crew.ready()),
                "staleness": float(np.mean(self._stale)),
                "memory_mb": self._crew.memory_mb(),
            },
        )

    def _tell(self, event: Event) -> None:
        self._say(f"{event.worker} {event.what}; {event.done}")

    def _most_due(self) -> int:
        """Updates that may be due before actors have to wait."""
        config = self.config
        rows = config.run.max_lag * config.selfplay.games * config.run.moves
        return int(rows * config.learning.reuse / config.learning.batch_size)

    def _save(self) -> None:
        self.boundary = self._checkpoint()
        super()._save()

    def _play_state(self) -> Arrays:
        """Games under way are the actors' own, and begin anew when a run resumes."""
        return {"actors": np.array([self._size])}

    def _checkpoint(self) -> Checkpoint:
        checkpoint = super()._checkpoint()
        owed = self.learner.rows_owed + self._due * self.config.learning.batch_size
        return replace(checkpoint, learner={**checkpoint.learner, "rows_owed": np.array([owed])})

    def _build(self, position: Position | None) -> None:
        config, game = self.config, self.game
        learning, inference = self._as_before(position)
        self._size = config.run.count_actors()
        self._is_overlapped = config.run.mode == "overlapped"
        self._due, self._serial = 0, 0
        self._orders: Counter[int] = Counter()
        self._taken: set[int] = set()
        self.learner = Learner(game, self._new_net(), config=learning, seed=config.run.seed)
        self.evaluator = Evaluator(
            self.learner.play_net,
            game.planes_shape,
            method=inference,
            batch_size=self._games_each(),
        )
        self.window = Window(game, config.replay)

    def _muster(self) -> None:
        """Start the actors, and have the weights ready for them."""
        self._crew = Crew("actor", self._size, self._start, tell=self._tell)
        self.crews.append(self._crew)
        self._publish()

    def _games_each(self) -> int:
        return max(1, self.config.selfplay.games // self._size)

    def _start(self, name: str, number: int, incarnation: int) -> LocalWorker:
        job = {
            "config": to_json(self.config),
            "games": self._games_each(),
            "inference": self.evaluator.method,
            "number": number,
            "incarnation": incarnation + 1000 * self.iteration,
        }
        threads = max(1, (os.cpu_count() or 1) // self._size)
        return LocalWorker(name, actor, job, environment=thread_limits(threads))

    def _restore(self, found: Checkpoint) -> None:
        self.learner.restore(found.learner)
        self._due = self.learner.owe(0)
        self.evaluator.load(self.learner.play_net)
        self.window = Window.restore(
            self.game,
            self.config.replay,
            shards=self._read_shards(found.position),
            rows_made=found.position.rows_made,
        )
