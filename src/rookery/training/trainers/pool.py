"""The trainer pool: a learner whose updates are made by trainers in other processes.

The pool puts all ready trainers into a group, and sends the group rows and requests. When a member
is lost, the others stop, the one with the most updates gives its state to all members of the next
group, and the open requests are repeated: every update is made once. A goal is only a few updates
away, so that new trainers join soon. If each trainer holds a part of the window, a lost trainer's
part is read from its shards by the others, and later by its replacement.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import nn

from rookery.games import Game
from rookery.learning import GroupFailed, LearningConfig, LearningDiverged, LearnReport
from rookery.replay import Window
from rookery.training.config import Config, to_json
from rookery.training.trainers import messages
from rookery.training.trainers.mirror import Check, Mirror
from rookery.training.trainers.pace import Pace
from rookery.training.trainers.placement import TrainerPlacement
from rookery.training.trainers.ready import ReadyTrainer, ReadyTrainers
from rookery.training.trainers.rendezvous import Rendezvous
from rookery.training.trainers.results import TrainerReport
from rookery.training.trainers.rows import TrainerRows
from rookery.training.trainers.trainer import trainer
from rookery.workers import (
    Message,
    Ready,
    Worker,
    WorkerEvent,
    WorkerPool,
    WorkersLost,
)

IDLE_SECONDS = 0.01
FIRST_PAUSE = 0.1
"""Seconds before the first restart of a trainer: the others have to do its share meanwhile."""
FUTILE_GROUPS = 10
"""Groups in a row that may break before their first update."""
Request = messages.LearnUntil | messages.SendState


class Phase(Enum):
    """What the pool waits for."""

    REGROUPING = "for the members to stop, and for trainers to become ready"
    WORKING = "for the members to reply to the requests"
    IDLE = "for the next request"


class TrainerPool:
    """A learner of `game` that starts with the weights of `net`."""

    worker_function = staticmethod(trainer)

    def __init__(
        self,
        game: Game,
        net: nn.Module,
        *,
        config: Config,
        placement: TrainerPlacement,
        on_event: Callable[[WorkerEvent], None],
        on_fallback: Callable[[str, str], None] | None = None,
        on_smaller_parts: Callable[[LearningConfig], None] = lambda config: None,
        shard_path: Callable[[int], Path] | None = None,
    ) -> None:
        """`on_fallback` is told the kind and reason of a fallback; it may raise to refuse it.

        `on_smaller_parts` is told the new settings when a batch must be computed in more parts.
        `shard_path` returns where trainers find a shard of the window, if they can read it.
        """
        self._whole, self._placement = config, placement
        learning = config.learning.scaled(placement.workers)
        self._mirror = Mirror(game, net, config=learning, seed=config.run.seed)
        self.precision, self.updates = self._mirror.precision, 0
        self.config: LearningConfig = replace(learning, precision=self.precision)
        self._settings, self._digest = self._to_settings(), game.digest
        is_split = config.replay.sharding == "split"
        self._rows = TrainerRows(Window(game, config.replay), is_split, shard_path)
        self._rendezvous = Rendezvous(placement.cluster)
        self._report = TrainerReport(self.config)
        self._phase, self._generation = Phase.REGROUPING, 0
        self._trainers = ReadyTrainers()
        self._requests: list[Request] = []
        """Requests that a new group has to carry out."""
        self._root_reply: messages.Learned | None = None
        self._pace = Pace()
        self._fetched: messages.Arrays = {}
        self._futile_groups, self._break_reason, self._divergence = 0, "", ""
        self._needs_smaller_parts = False
        self._on_fallback, self._on_smaller_parts = on_fallback, on_smaller_parts
        self.is_alone = False
        """Whether this process learns, because trainers cannot."""
        self._policy = replace(
            config.run.restart_policy(),
            silence_seconds=self.config.silence_seconds,
            first_pause=FIRST_PAUSE,
        )
        self._pool = WorkerPool(
            "trainer", placement.workers, self._start, policy=self._policy, on_event=on_event
        )

    @property
    def play_net(self) -> nn.Module:
        """The averaged network, for playing; it changes in place."""
        return self._mirror.play_net

    def learn(
        self, window: Window, num_updates: int, *, progress: float, check: Check = lambda: None
    ) -> LearnReport:
        """Make `num_updates` updates from `window`, `progress` (0 to 1) through the run.

        `check` is called while the trainers work, and may raise to stop.
        """
        if self.is_alone:
            return self._learn_alone(window, num_updates, progress, check)
        self._rows.window, begun = window, time.perf_counter()
        first, goal = self.updates, self.updates + num_updates
        self._report.begin()
        try:
            while self.updates < goal:
                self._learn_until(
                    min(goal, self.updates + self._pace.request_size), progress, check
                )
        except (GroupFailed, WorkersLost) as error:
            if self._on_fallback is None:
                raise
            self._on_fallback("method", f"{error}; learning in one process from now on")
            self._go_on_alone()
            return self._learn_alone(window, goal - self.updates, progress, check)
        updates = self.updates - first
        return self._report.build(
            updates,
            rows_per_second=updates * self.config.batch_size / (time.perf_counter() - begun),
            workers=self._pool.stats(with_failed=True),
            members=self._trainers.members,
        )

    def drain(self) -> LearnReport | None:
        """Return the report of updates in flight: none, `learn` waits for all."""
        return None

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything that a new learner needs to continue, fetched from the trainers."""
        if self._mirror.updates != self.updates:
            self._fetch_state()
        return self._mirror.state()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned; trainers discard what they have learned since."""
        self._keep_state(arrays)
        self._generation += 1  # replies that are still to arrive do not count
        self._requests = []
        self._trainers.discard_states()
        self._phase = Phase.REGROUPING

    def set_learning_rate(self, peak: float) -> None:
        """Make the next updates with another peak learning rate."""
        whole = self._whole.learning
        whole = replace(whole, learning_rate=whole.learning_rate * peak / self.config.learning_rate)
        self._whole = replace(self._whole, learning=whole)
        self.config = replace(self.config, learning_rate=peak)

    def describe(self) -> str:
        """Return who learns, and how, in one sentence."""
        part = "; each holds its part of the replay window" if self._rows.is_split else ""
        return self._whole.learning.terms(self._placement.workers) + part

    def scale(self, workers: int, devices: tuple[torch.device, ...]) -> None:
        """Continue with other trainers, between two calls of `learn`; no update is lost.

        Trainers whose device, threads or settings change are restarted.
        """
        if self._mirror.updates != self.updates:
            self._fetch_state()
        self._pool.keep_dropped()
        present, why = self._pool.numbers(), "the run was scaled"
        before = {number: (self._settings, self._placement.place(number)) for number in present}
        self._placement = replace(self._placement, workers=workers, devices=devices)
        learning = self._whole.learning.scaled(workers)
        self.config = self._report.config = replace(learning, precision=self.precision)
        self._settings = self._to_settings()
        for number in present[workers:]:
            self._pool.retire(number, f"leaves: {why}")
        for number in present[:workers]:
            if before[number] != (self._settings, self._placement.place(number)):
                self._pool.restart(number, f"has another share: {why}")
        for _ in range(workers - len(present)):
            self._pool.add_worker(f"joins: {why}")
        self._phase = Phase.REGROUPING

    def count(self) -> tuple[int, int]:
        """Return how many trainers are ready, and how many there are."""
        return len(self._pool.ready()), self._pool.size()

    def close(self) -> None:
        """End all trainers."""
        self._pool.close()
        self._rendezvous.close()

    def _go_on_alone(self) -> None:
        """Learn in this process from now on, from the trainers' last whole state."""
        self.is_alone = True
        self._pool.close()
        self._keep_state(self._mirror.state())

    def _learn_alone(
        self, window: Window, num_updates: int, progress: float, check: Check
    ) -> LearnReport:
        rate = self.config.learning_rate
        try:
            return self._mirror.learn(
                window, num_updates, progress=progress, learning_rate=rate, check=check
            )
        finally:
            self.updates = self._mirror.updates

    def _to_settings(self) -> str:
        """Return the settings that trainers are started with."""
        return to_json(replace(self._whole, learning=self.config))

    def _learn_until(self, goal: int, progress: float, check: Check) -> None:
        """Have the trainers reach a goal; those that have become ready join first."""
        if self._pool.ready() != self._trainers.members:
            self._phase = Phase.REGROUPING
        self._requests = []
        rate, begin = self.config.learning_rate, time.perf_counter()
        before, generation = self.updates, self._generation
        self._carry_out(messages.LearnUntil(self._generation, goal, progress, rate), check)
        assert self._root_reply is not None
        self.updates = self._root_reply.updates
        seconds, is_usual = time.perf_counter() - begin, generation == self._generation
        self._pace.note_updates(self.updates - before, seconds, is_usual=is_usual)
        self._mirror.fill_play(self._root_reply.play_arrays)
        is_due = self.updates - self._mirror.updates >= self.config.checkpoint_every
        if is_due and self._pace.may_copy():
            self._fetch_state()

    def _fetch_state(self) -> None:
        """Fetch the state; trainers that replace lost ones first reach the last goal again."""
        begin = time.perf_counter()
        self._carry_out(messages.SendState(self._generation), lambda: None)
        self._requests.pop()
        self._keep_state(self._fetched)
        self._fetched = {}
        self._pace.note_copy(time.perf_counter() - begin)

    def _keep_state(self, arrays: messages.Arrays) -> None:
        self._mirror.restore(arrays)
        self.updates = self._mirror.updates

    def _carry_out(self, request: Request, check: Check) -> None:
        """Have all members of a group carry out a request, however many groups that takes."""
        self._requests.append(request)
        if self._phase is not Phase.REGROUPING:
            self._phase = Phase.WORKING
            self._send_request(request)
        while self._phase is not Phase.IDLE:
            for number, message in self._pool.poll():
                self._handle(number, message)
            if self._divergence:
                reason, self._divergence = self._divergence, ""
                raise LearningDiverged(reason)
            for number in self._trainers.keys() - set(self._pool.ready()):
                self._forget(number)
            self._replace_hung()
            if self._phase is Phase.REGROUPING:
                self._form_group()
            elif not self._trainers.has_pending_replies():
                self._phase = Phase.IDLE
                return
            check()
            time.sleep(IDLE_SECONDS)

    def _handle(self, number: int, message: Message) -> None:
        match message:
            case Ready():
                self._forget(number)
                self._trainers[number] = ReadyTrainer()
            case messages.Diverged():
                self._phase, self._trainers[number].pending = Phase.REGROUPING, 0
                if message.generation == self._generation:
                    self._divergence = message.reason
            case messages.GroupBroken():
                self._phase, self._break_reason = Phase.REGROUPING, message.reason
                self._trainers[number].pending = 0
                if message.generation == self._generation:
                    self._trainers[number].updates = message.updates
                    self._needs_smaller_parts |= message.is_out_of_memory
            case messages.Joined() | messages.Learned() | messages.TrainerState():
                self._trainers[number].note_reply()
                self._take_reply(number, message)

    def _take_reply(self, number: int, reply: Message) -> None:
        if isinstance(reply, messages.TrainerState) and reply.arrays:
            self._fetched = reply.arrays
        if isinstance(reply, messages.Learned) and reply.generation == self._generation:
            self._trainers[number].updates = reply.updates
            self._report.add(number, reply)
            if reply.result.report is not None:
                self._futile_groups = 0
            if number == self._trainers.members[0]:
                self._root_reply = reply

    def _replace_hung(self) -> None:
        """Replace trainers that should have answered long ago."""
        limit = self._policy.start_seconds
        late = self._pace.late_seconds(self.config.silence_seconds)
        if late is not None and isinstance(self._requests[-1], messages.LearnUntil):
            limit = min(limit, late)
        for number, seconds in self._trainers.silent(limit):
            self._pool.fail(number, f"has not answered for {seconds:.0f} s")

    def _forget(self, number: int) -> None:
        """Forget a trainer that is lost, and break its group."""
        if number in self._trainers.members:
            has_server = self.config.synchronise == "parameter_server"
            is_server = has_server and number == self._trainers.members[0]
            if is_server and self.config.method == "distributed":
                self._trainers.discard_states()  # the server alone had the optimizer's state
            self._trainers.members.remove(number)
            self._phase = Phase.REGROUPING
        self._trainers.pop(number, None)

    @property
    def _is_pipeline(self) -> bool:
        """Whether each trainer has a part of the network, so that it takes all of them."""
        return self.config.method == "pipeline"

    def _form_group(self) -> None:
        """Form a group of all ready trainers, once the members of the last one have stopped."""
        min_size = self._pool.size() if self._is_pipeline else 1
        if len(self._trainers) < min_size or self._trainers.has_pending_replies():
            return
        if self._needs_smaller_parts:
            self._split_batches(len(self._trainers))
        self._futile_groups += 1
        if self._futile_groups > FUTILE_GROUPS:
            raise GroupFailed(f"trainers cannot learn together: {self._break_reason}")
        self._generation += 1
        self._trainers.form_group()
        self._phase = Phase.WORKING
        self._rows.deal(self._trainers.members, self._placement.workers)
        source = self._choose_source()
        for rank, number in enumerate(self._trainers.members):
            invitation = messages.JoinGroup(
                generation=self._generation,
                rank=rank,
                size=len(self._trainers.members),
                source=source,
                backend=self._placement.backend,
                silence_seconds=self.config.silence_seconds,
                accumulate=self.config.accumulate,
                meeting=self._rendezvous.meeting,
            )
            self._send(number, invitation)
        for request in self._requests:
            self._send_request(request)

    def _split_batches(self, trainers: int) -> None:
        """Compute batches in twice as many parts, because one did not fit into memory."""
        self._needs_smaller_parts = False
        parts, rows = 2 * self.config.accumulate, self.config.batch_size
        smallest = 1 if self._is_pipeline else trainers
        if rows % parts or rows // parts < smallest:
            raise GroupFailed(f"a batch of {rows} rows does not fit into the trainers' memory")
        self.config = self._report.config = replace(self.config, accumulate=parts)
        whole = replace(self._whole.learning, accumulate=parts)
        self._whole = replace(self._whole, learning=whole)
        self._settings = self._to_settings()
        self._on_smaller_parts(self.config)

    def _choose_source(self) -> int:
        """Return the rank with the most updates; if the mirror has more, the root gets them."""
        rank, updates = self._trainers.most_updates()
        if self._is_pipeline or updates < self._mirror.updates:
            self._pool.send(self._trainers.members[0], messages.RestoreState(self._mirror.state()))
            return 0
        return rank

    def _send_request(self, request: Request) -> None:
        """Send a request to all members, and the rows that they need for it."""
        for number in self._trainers.members:
            if isinstance(request, messages.LearnUntil):
                missing = self._rows.missing(number, self._trainers[number].rows)
                if missing is not None:
                    self._pool.send(number, missing)
            self._send(number, replace(request, generation=self._generation))

    def _send(self, number: int, message: Message) -> None:
        """Send a message that a trainer replies to."""
        self._trainers[number].note_request()
        self._pool.send(number, message)

    def _start(self, name: str, number: int, incarnation: int) -> Worker:
        return self._placement.start(
            name,
            number,
            self.worker_function,
            config=self._settings,
            digest=self._digest,
            heartbeat_seconds=self._whole.run.heartbeat_seconds,
        )
