"""What a trainer does: learn as one rank of a group, in a process of its own.

It holds the window or a part of it, joins the groups that it is told to join, learns up to the
update that it is asked for, and reports how far it has come when its group breaks. All decisions
are made by the trainer pool.
"""

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from rookery import __version__
from rookery.base import RookeryError
from rookery.games import load_game
from rookery.gpu import find_device, process_usage, use_device
from rookery.learning import GroupFailed, LearningDiverged, PipelineRank, RankLearner, RankSpec
from rookery.replay import Window, from_columns, read_shard
from rookery.training.config import from_json
from rookery.training.store.origin import new_net
from rookery.training.trainers import messages
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


def trainer(channel: Channel, job: TrainerJob) -> None:
    """Carry out requests until the channel closes."""
    rank = Trainer(job)
    channel.measure_device = partial(process_usage, find_device(job.device))
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
        self.window = self._new_window()
        self.generation = NO_GROUP
        self.idle_seconds = 0.0
        """Time without a request since the last goal."""

    def reply(self, message: Message) -> Message | None:
        """Carry out a request and return the reply; a broken group is a reply, too."""
        try:
            return self._carry_out(message)
        except (GroupFailed, LearningDiverged, torch.OutOfMemoryError) as error:
            kind, reason = type(error), str(error)
        # From here on, the error no longer holds the group and the memory that it was raised in.
        left = self._leave()
        if kind is LearningDiverged:
            return messages.Diverged(left, reason)
        is_out_of_memory = kind is torch.OutOfMemoryError
        if is_out_of_memory:
            torch.cuda.empty_cache()
        return messages.GroupBroken(left, self.learner.updates, reason, is_out_of_memory)

    def _leave(self) -> int:
        """Leave the group, and return its generation."""
        self.learner.leave()
        left, self.generation = self.generation, NO_GROUP
        return left

    def _new_rank(self) -> RankLearner | PipelineRank:
        learning, seed = self.config.learning, self.config.run.seed
        device, build = find_device(self.device), partial(new_net, self.config, self.game)
        use_device(device)
        if learning.method == "pipeline":
            return PipelineRank(self.game, build, config=learning, seed=seed, device=device)
        return RankLearner(self.game, build().to(device), config=learning, seed=seed)

    def _carry_out(self, message: Message) -> Message | None:
        match message:
            case messages.AddRows():
                self._add_rows(message)
            case messages.LoadRows():
                self._load_rows(message)
            case messages.RestoreState():
                self.learner.restore(message.arrays)
            case messages.JoinGroup():
                return self._join(message)
            case messages.LearnUntil(generation=self.generation):
                return self._learn(message)
            case messages.SendState(generation=self.generation):
                return messages.TrainerState(self.learner.whole_state())
        return None

    def _add_rows(self, message: messages.AddRows) -> None:
        if message.is_whole:
            self._begin_window(message.begin, message.lanes)
        self._check_rows_made(message.begin)
        self.window.extend(from_columns(message.columns, game=self.game), message.rows_made)

    def _load_rows(self, message: messages.LoadRows) -> None:
        self._begin_window(message.begin, message.lanes)
        for path in message.paths:
            self.window.add(read_shard(Path(path), game=self.game))
        self._check_rows_made(message.rows_made)

    def _begin_window(self, begin: int, lanes: tuple[int, ...]) -> None:
        self.window = self._new_window(lanes)
        self.window.rows_made = begin

    def _new_window(self, lanes: tuple[int, ...] = ()) -> Window:
        """Return an empty window on the trainer's device; ranks of a pipeline save its memory."""
        is_split = self.config.learning.method == "pipeline"
        device = find_device("cpu" if is_split else self.device)
        return Window(self.game, self.config.replay, device, lanes=lanes)

    def _check_rows_made(self, expected: int) -> None:
        if self.window.rows_made != expected:
            raise RookeryError(
                f"the trainer has seen {self.window.rows_made} rows, expected {expected}"
            )

    def _join(self, message: messages.JoinGroup) -> messages.Joined:
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
        self.learner.set_parts(message.accumulate)
        self.learner.join(place, message.source)
        return messages.Joined()

    def _learn(self, message: messages.LearnUntil) -> messages.Learned:
        self.learner.set_learning_rate(message.learning_rate)
        result = self.learner.learn_until(self.window, message.goal, progress=message.progress)
        idle_seconds, self.idle_seconds = self.idle_seconds, 0.0
        return messages.Learned(
            generation=self.generation,
            updates=self.learner.updates,
            device=self.device,
            result=result,
            idle_seconds=idle_seconds,
            rows_held=self.window.rows_held,
            play_arrays=self.learner.whole_play(),
        )
