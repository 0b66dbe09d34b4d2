"""The team: a learner made of trainers, as the ring sees it.

The trainers are a crew, watched and replaced like any other. The team decides who forms a group,
and hands out rows and goals. When a member is lost, the others stop where they are, the one that
has come furthest gives its state to all, newcomers included, and the same goal is asked for again:
no update is made twice, none by half. A goal is a few updates away, so that newcomers soon join.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray
from torch import nn

from rookery import __version__
from rookery.games import Game
from rookery.learning import (
    Debt,
    GroupFailed,
    Learner,
    LearningConfig,
    LearningDiverged,
    LearnReport,
)
from rookery.replay import Window, to_columns
from rookery.training.config import Config, to_json
from rookery.training.trainers.mirror import StateMirror
from rookery.training.trainers.placement import TrainerPlacement
from rookery.training.trainers.rendezvous import Rendezvous
from rookery.training.trainers.replies import TrainerReplies
from rookery.training.trainers.trainer import trainer
from rookery.workers import Message, RestartPolicy, Worker, WorkerEvent, WorkerPool

ORDER = 32
"""Updates that are asked for at once."""
IDLE_SECONDS = 0.01
FUTILE_GROUPS = 10
"""Groups in a row that broke before their first update; then the fault lies elsewhere."""


class TrainerPool(Debt):
    """Learns `game` with `net` by the work of others."""

    role = staticmethod(trainer)
    """What a trainer does."""

    def __init__(
        self,
        game: Game,
        net: nn.Module,
        *,
        config: Config,
        posts: TrainerPlacement,
        tell: Callable[[WorkerEvent], None],
    ) -> None:
        learning = config.learning.scaled(posts.workers)
        still = Learner(game, net, config=learning, seed=config.run.seed)
        self.config: LearningConfig = replace(learning, precision=still.precision)
        self.precision, self.updates, self._kept = still.precision, 0, StateMirror(still)
        self._settings = replace(config, learning=self.config)
        self._posts, self._digest = posts, game.digest
        self._rendezvous = Rendezvous(posts.cluster)
        self._generation, self._futile, self._reason = 0, 0, ""
        self._members: list[int] = []
        self._standing: dict[int, int] = {}
        """Updates of each trainer that has a state."""
        self._pending: Counter[int] = Counter()
        """Answers that each trainer owes."""
        self._is_broken = True
        self._rows: dict[int, int] = {}
        """Rows ever made that each trainer knows of."""
        self._window = Window(game, config.replay)
        self._order: Message | None = None
        self._answers = TrainerReplies(self.config)
        self._fetched: Mapping[str, NDArray[Any]] | None = None
        limits = RestartPolicy(silence_seconds=self.config.patience, first_pause=0.1)
        self.crew = WorkerPool("trainer", posts.workers, self._start, limits=limits, tell=tell)

    @property
    def play_net(self) -> nn.Module:
        """The averaged net, for playing; it changes in place when the team has learned."""
        return self._kept.play_net

    def learn(
        self,
        window: Window,
        num_updates: int,
        *,
        progress: float,
        check: Callable[[], None] = lambda: None,
    ) -> LearnReport:
        """Have updates made from `window`, `progress` (0 to 1) through the run.

        `check` is called while the team is waited for, and may raise to stop.
        """
        self._window, begun = window, time.perf_counter()
        first, goal = self.updates, self.updates + num_updates
        self._answers.begin()
        while self.updates < goal:
            self._ask(min(goal, self.updates + ORDER), progress)
            self._attend(self._is_answered, check)
            self._take_up()
        rows = (self.updates - first) * self.config.batch_size
        return self._answers.report(
            self.updates - first,
            rows_per_second=rows / (time.perf_counter() - begun),
            memory={number: known.memory_mb for number, known in self.crew.figures().items()},
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything a new learner needs to go on, fetched from the trainers."""
        if self._kept.updates != self.updates:
            self._fetch()
        return self._kept.state(self.rows_owed)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave; trainers forget what they have learned since."""
        self._kept.keep(arrays)
        self.updates, self.rows_owed = self._kept.updates, float(arrays["rows_owed"][0])
        self._generation += 1  # what is still on its way counts no more
        self._standing, self._order, self._is_broken = {}, None, True

    def terms(self) -> str:
        """Who learns on what terms, in a sentence."""
        return self.config.terms(self._posts.workers)

    @property
    def _is_cut(self) -> bool:
        """Whether it takes all trainers to make a net, of which each loses its part."""
        return self.config.method == "pipeline"

    def close(self) -> None:
        """End all trainers."""
        self.crew.close()
        self._rendezvous.close()

    def _ask(self, goal: int, progress: float) -> None:
        """Set the next goal; whoever has become ready meanwhile is taken in first."""
        header = {"goal": goal, "progress": progress}
        self._order = Message("learn", header)
        if self._is_broken or set(self.crew.ready()) - set(self._members):
            self._is_broken = True
        else:
            self._give_order()

    def _give_order(self) -> None:
        if self._order is not None:
            self._answers.clear()
            for number in self._members:
                self._send_rows(number)
                header = {**self._order.header, "generation": self._generation}
                self._request(number, Message("learn", header))

    def _request(self, number: int, message: Message) -> None:
        self._pending[number] += 1
        self.crew.send(number, message)

    def _attend(self, is_done: Callable[[], bool], check: Callable[[], None]) -> None:
        """Look after the trainers until it is done."""
        while True:
            for number, message in self.crew.poll():
                self._hear(number, message)
            self._miss_the_lost()
            if self._is_broken:
                self._regroup()
            elif is_done():
                return
            check()
            time.sleep(IDLE_SECONDS)

    def _hear(self, number: int, message: Message) -> None:
        header = message.header
        if message.kind == "ready":
            self._welcome(number, header["rookery"])
        elif message.kind == "broken":
            self._pending[number] = 0
            self._is_broken, self._reason = True, header["reason"]
            if header["generation"] == self._generation:
                self._standing[number] = header["updates"]
        elif message.kind == "diverged":
            raise LearningDiverged(header["reason"])
        else:
            self._pending[number] -= 1
            if message.kind == "state" and message.arrays:
                self._fetched = message.arrays
            elif message.kind == "learned" and header["generation"] == self._generation:
                self._standing[number] = header["updates"]
                self._futile = 0 if header["report"] else self._futile
                self._answers.add(number, message)

    def _welcome(self, number: int, version: str) -> None:
        """A new trainer knows nothing yet, even where it takes another's place."""
        if version != __version__:
            self.crew.drop_worker(number, f"runs rookery {version}, expected {__version__}")
        self._forget(number)
        self._rows[number] = 0

    def _miss_the_lost(self) -> None:
        ready = set(self.crew.ready())
        for number in [member for member in self._members if member not in ready]:
            self._forget(number)

    def _forget(self, number: int) -> None:
        """One that is gone takes its state with it, and a server that of all the others."""
        self._standing.pop(number, None)
        self._pending[number] = 0
        if number in self._members:
            served = self.config.synchronise == "parameter_server"
            if served and self.config.method == "distributed" and number == self._members[0]:
                self._standing = {}
            self._members.remove(number)
            self._is_broken = True

    def _regroup(self) -> None:
        """Form a new group, once all that are left of the old one have stopped."""
        ready = self.crew.ready()
        fewest = self.crew.size() if self._is_cut else 1
        if len(ready) < fewest or any(self._pending[number] for number in self._members):
            return
        self._count_futile()
        self._generation += 1
        self._members, self._is_broken = ready, False
        source = self._source()
        for rank, number in enumerate(ready):
            place = {
                "generation": self._generation,
                "rank": rank,
                "size": len(ready),
                "backend": self._posts.backend,
                "patience": self.config.patience,
            }
            header = {"meeting": vars(self._rendezvous.meeting), "place": place, "source": source}
            self._request(number, Message("group", header))
        self._give_order()

    def _count_futile(self) -> None:
        self._futile += 1
        if self._futile > FUTILE_GROUPS:
            raise GroupFailed(f"trainers cannot learn together: {self._reason}")

    def _source(self) -> int:
        """The rank whose state all go on from: whoever has come furthest, or what was kept."""
        known = [self._standing.get(number, -1) for number in self._members]
        if self._is_cut or max(known) < self._kept.updates:
            state = self._kept.state(self.rows_owed)
            self.crew.send(self._members[0], Message("state", {}, state))
            return 0
        return known.index(max(known))

    def _send_rows(self, number: int) -> None:
        """Bring a trainer's window up to date."""
        window, known = self._window, self._rows[number]
        new = window.rows_made - known
        if new == 0:
            return
        is_whole = known == 0 or new > len(window)
        samples = window.samples.between(0 if is_whole else len(window) - new, len(window))
        header = {"is_whole": is_whole, "rows": len(window), "rows_made": window.rows_made}
        self.crew.send(number, Message("rows", header, to_columns(samples)))
        self._rows[number] = window.rows_made

    def _is_answered(self) -> bool:
        return all(self._answers.has(number) for number in self._members)

    def _take_up(self) -> None:
        """Play with what was learned; fetch the whole state now and then."""
        lead = self._answers.of(self._members[0])
        self.updates = lead.header["updates"]
        self._kept.play_with(lead.arrays)
        if self.updates - self._kept.updates >= self.config.checkpoint_every:
            self._fetch()

    def _fetch(self) -> None:
        """Have the state told. If trainers are lost meanwhile, the next ones do so, once they have
        come as far: the last order stands."""
        self._fetched, asked = None, -1

        def is_told() -> bool:
            nonlocal asked
            if asked != self._generation:
                asked = self._generation
                for number in self._members:
                    self._request(number, Message("tell", {"generation": asked}))
            return self._fetched is not None

        self._attend(is_told, lambda: None)
        assert self._fetched is not None
        self._kept.keep(self._fetched)
        self.updates = self._kept.updates

    def _start(self, name: str, number: int, incarnation: int) -> Worker:
        return self._posts.start(
            name, number, self.role, config=to_json(self._settings), digest=self._digest
        )
