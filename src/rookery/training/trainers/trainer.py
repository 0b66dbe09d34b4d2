"""What a trainer does: learn as one rank of a group, in a process of its own.

It holds the same window as the others, joins the groups that it is told to join, learns up to the
update that it is asked for, and reports how far it has come when its group breaks. All decisions
are made by the trainer pool.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray
from torch import nn

from rookery import __version__
from rookery.base import RookeryError
from rookery.games import load_game
from rookery.gpu import find_device, use_device
from rookery.learning import (
    GroupFailed,
    LearningDiverged,
    PipelineRank,
    RankLearner,
    RankResult,
    RankSpec,
)
from rookery.replay import Window, from_columns
from rookery.training.config import from_json
from rookery.training.store.origin import new_net
from rookery.training.trainers.messages import (
    AddRows,
    Diverged,
    GroupBroken,
    Joined,
    JoinGroup,
    Learned,
    LearnUntil,
    RestoreState,
    SendState,
    TrainerState,
)
from rookery.workers import Channel, Message, Ready

WAIT_SECONDS = 1.0
NO_GROUP = -1
"""The generation of a trainer that is in no group."""


@dataclass(frozen=True)
class TrainerJob:
    """The argument of a trainer."""

    config: str
    """The settings of the run, as JSON."""
    digest: str
    """SHA-256 of the rules file; empty for a bundled game."""
    device: str


class Rank(Protocol):
    """A learner as a member of a group; all members get the same calls."""

    @property
    def updates(self) -> int:
        """Updates made so far."""

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a whole state."""

    def join(self, place: RankSpec, source: int) -> None:
        """Form a group; all members continue from the state of rank `source`."""

    def leave(self) -> None:
        """Leave the group."""

    def learn_until(self, window: Window, goal: int, *, progress: float) -> RankResult:
        """Make all updates below number `goal`."""

    def whole_state(self) -> dict[str, NDArray[Any]]:
        """Return the whole state at the group's root, nothing elsewhere."""

    def whole_play(self) -> dict[str, NDArray[Any]]:
        """Return the averaged network at the group's root, nothing elsewhere."""


def trainer(channel: Channel, job: TrainerJob) -> None:
    """Carry out requests until the channel closes."""
    rank = Trainer(job)
    channel.send(Ready(__version__))
    while True:
        begun = time.perf_counter()
        message = channel.receive(WAIT_SECONDS)
        rank.idle_seconds += time.perf_counter() - begun
        if message is not None and (reply := rank.reply(message)):
            channel.send(reply)


class Trainer:
    """A rank, its window, and the group that it is in."""

    def __init__(self, job: TrainerJob) -> None:
        self.config, self.device = from_json(job.config), job.device
        self.game = load_game(self.config.game, job.digest)
        self.learner = self._new_rank()
        self.window = Window(self.game, self.config.replay)
        self.generation = NO_GROUP
        self.idle_seconds = 0.0
        """Time without a request since the last goal."""

    def reply(self, message: Message) -> Message | None:
        """Carry out a request and return the reply; a broken group is a reply, too."""
        try:
            return self._carry_out(message)
        except GroupFailed as error:
            self.learner.leave()
            broken, self.generation = self.generation, NO_GROUP
            return GroupBroken(broken, self.learner.updates, str(error))
        except LearningDiverged as error:
            return Diverged(str(error))

    def _new_rank(self) -> Rank:
        learning, seed = self.config.learning, self.config.run.seed
        device = find_device(self.device)
        use_device(device)
        if learning.method == "pipeline":
            return PipelineRank(self.game, self._new_net, config=learning, seed=seed, device=device)
        return RankLearner(self.game, self._new_net().to(device), config=learning, seed=seed)

    def _new_net(self) -> nn.Module:
        return new_net(self.config, self.game)

    def _carry_out(self, message: Message) -> Message | None:
        match message:
            case AddRows():
                self._add_rows(message)
            case RestoreState():
                self.learner.restore(message.arrays)
            case JoinGroup():
                return self._join(message)
            case LearnUntil(generation=self.generation):
                return self._learn(message)
            case SendState(generation=self.generation):
                return TrainerState(self.learner.whole_state())
        return None

    def _add_rows(self, message: AddRows) -> None:
        rows = from_columns(message.columns, game=self.game)
        if message.is_whole:
            self.window = Window(self.game, self.config.replay)
            self.window.refill([(0, rows)], message.rows_made)
        else:
            self.window.add(rows)
        if self.window.rows_made != message.rows_made:
            raise RookeryError(
                f"the trainer has seen {self.window.rows_made} rows, expected {message.rows_made}"
            )

    def _join(self, message: JoinGroup) -> Joined:
        self.generation = message.generation
        place = RankSpec(
            store=message.meeting.store(message.generation),
            generation=message.generation,
            rank=message.rank,
            size=message.size,
            address=message.meeting.address(),
            backend=message.backend,
            silence_seconds=message.silence_seconds,
        )
        self.learner.join(place, message.source)
        return Joined()

    def _learn(self, message: LearnUntil) -> Learned:
        result = self.learner.learn_until(self.window, message.goal, progress=message.progress)
        idle_seconds, self.idle_seconds = self.idle_seconds, 0.0
        return Learned(
            generation=self.generation,
            updates=self.learner.updates,
            device=self.device,
            result=result,
            idle_seconds=idle_seconds,
            play_arrays=self.learner.whole_play(),
        )
