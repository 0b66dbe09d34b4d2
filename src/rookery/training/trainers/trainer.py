"""What a trainer does: one rank of the learners, in a process of its own.

It holds the same window as the others, joins whatever group it is told to, learns up to the update
it is asked for, and says where it stands when the group breaks. It decides nothing.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict
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
from rookery.training.trainers.rendezvous import Meeting
from rookery.workers import Channel, Message

WAIT_SECONDS = 1.0
NOWHERE = -1
"""The generation of a trainer that is in no group."""


class Rank(Protocol):
    """A learner as one of a group; all members are asked for the same."""

    @property
    def updates(self) -> int:
        """Made so far."""

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a whole state."""

    def join(self, place: RankSpec, source: int) -> None:
        """Form a group; everybody goes on from the state of rank `source`."""

    def leave(self) -> None:
        """Be done with the group."""

    def learn_until(self, window: Window, goal: int, *, progress: float) -> RankResult:
        """Make all updates below number `goal`."""

    def whole_state(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on, at the group's root; elsewhere nothing."""

    def whole_play(self) -> dict[str, NDArray[Any]]:
        """The averaged net, at the group's root; elsewhere nothing."""


def trainer(link: Channel, job: Mapping[str, Any]) -> None:
    """Learn with others until the line breaks."""
    rank = Trainer(job)
    link.send(Message("ready", {"rookery": __version__}))
    while True:
        idle = time.perf_counter()
        message = link.receive(WAIT_SECONDS)
        rank.idle += time.perf_counter() - idle
        if message is not None and (answer := rank.answer(message)):
            link.send(answer)


class Trainer:
    """A rank, its window, and the group it is in."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        config = from_json(job["config"])
        self.game = load_game(config.game, job["digest"])
        self.config, self.device = config, job["device"]
        self.learner = self._new_rank()
        self.window = Window(self.game, config.replay)
        self.generation = NOWHERE
        self.idle = 0.0
        """Seconds without anything to do since the last answer."""

    def _new_rank(self) -> Rank:
        learning, seed = self.config.learning, self.config.run.seed
        device = find_device(self.device)
        use_device(device)
        if learning.method == "pipeline":
            return PipelineRank(self.game, self._new_net, config=learning, seed=seed, device=device)
        return RankLearner(self.game, self._new_net().to(device), config=learning, seed=seed)

    def _new_net(self) -> nn.Module:
        return new_net(self.config.net, self.game)

    def answer(self, message: Message) -> Message | None:
        """Do what is asked; a broken group or lost numbers are answers too."""
        try:
            return self._do(message)
        except GroupFailed as error:
            self.learner.leave()
            broken, self.generation = self.generation, NOWHERE
            said = {"generation": broken, "updates": self.learner.updates, "reason": str(error)}
            return Message("broken", said)
        except LearningDiverged as error:
            return Message("diverged", {"reason": str(error)})

    def _do(self, message: Message) -> Message | None:
        header = message.header
        if message.kind == "rows":
            self._take_rows(message)
        elif message.kind == "state":
            self.learner.restore(message.arrays)
        elif message.kind == "group":
            self.generation = header["place"]["generation"]
            meeting = Meeting(**header["meeting"])
            store, address = meeting.store(self.generation), meeting.address()
            place = RankSpec(store=store, address=address, **header["place"])
            self.learner.join(place, header["source"])
            return Message("joined", {"generation": self.generation})
        elif message.kind == "learn" and header["generation"] == self.generation:
            return self._learn(header)
        elif message.kind == "tell" and header["generation"] == self.generation:
            return Message("state", {}, self.learner.whole_state())
        return None

    def _take_rows(self, message: Message) -> None:
        """Add rows that are new, or begin with all that there are."""
        header, samples = message.header, from_columns(message.arrays, game=self.game)
        if header["is_whole"]:
            self.window = Window(self.game, self.config.replay)
            self.window.refill([(0, samples)], header["rows_made"])
        else:
            self.window.add(samples)
        if (len(self.window), self.window.rows_made) != (header["rows"], header["rows_made"]):
            raise RookeryError(
                f"the window has {len(self.window)} of {self.window.rows_made} rows, "
                f"expected {header['rows']} of {header['rows_made']}"
            )

    def _learn(self, header: Mapping[str, Any]) -> Message:
        stretch = self.learner.learn_until(self.window, header["goal"], progress=header["progress"])
        said = {
            "generation": self.generation,
            "updates": self.learner.updates,
            **self._figures(stretch),
        }
        return Message("learned", said, self.learner.whole_play())

    def _figures(self, stretch: RankResult) -> dict[str, Any]:
        idle, self.idle = self.idle, 0.0
        return {
            "device": self.device,
            "report": asdict(stretch.report) if stretch.report else None,
            "seconds": stretch.seconds,
            "blocked": stretch.traffic.blocked,
            "sent": stretch.traffic.sent,
            "idle": idle,
        }
