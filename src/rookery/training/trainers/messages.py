"""The messages between a trainer pool and its trainers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from rookery.learning import RankResult
from rookery.training.trainers.rendezvous import Meeting
from rookery.workers import Message

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class AddRows(Message):
    """Add rows to the window; no reply."""

    columns: Arrays
    """The rows to be held (see `replay.to_columns`)."""
    begin: int
    """Rows made in the run before the first of them."""
    rows_made: int
    """Rows made up to the last one."""
    is_whole: bool
    """Whether these are all rows of the window; its old content is discarded."""
    lanes: tuple[int, ...]
    """The part of the window that the trainer holds (see `replay.part`); empty = all of it."""


@dataclass(frozen=True)
class LoadRows(Message):
    """Replace the window by a part that is read from shards; no reply."""

    paths: tuple[str, ...]
    begin: int
    """Rows made in the run before the first one of the shards."""
    rows_made: int
    lanes: tuple[int, ...]


@dataclass(frozen=True)
class RestoreState(Message):
    """Continue from a whole state; no reply."""

    arrays: Arrays


@dataclass(frozen=True)
class JoinGroup(Message):
    """Form a group with the other members; the reply is Joined."""

    generation: int
    rank: int
    size: int
    source: int
    """The rank from whose state all members continue."""
    backend: str
    silence_seconds: float
    """Seconds that a member may keep the others waiting."""
    accumulate: int
    """Parts in which a batch is computed."""
    meeting: Meeting


@dataclass(frozen=True)
class LearnUntil(Message):
    """Make all updates below number `goal`; the reply is Learned."""

    generation: int
    """The group that is asked; trainers that are not in it do not reply."""
    goal: int
    progress: float
    learning_rate: float
    """At its peak."""


@dataclass(frozen=True)
class SendState(Message):
    """Return the whole state; the reply is TrainerState."""

    generation: int


@dataclass(frozen=True)
class Joined(Message):
    """The trainer is a member of the group."""


@dataclass(frozen=True)
class Learned(Message):
    """The trainer has reached a goal."""

    generation: int
    updates: int
    device: str
    result: RankResult
    idle_seconds: float
    """Time without a request since the last goal."""
    rows_held: int
    """Rows of the window that the trainer holds."""
    play_arrays: Arrays
    """The averaged network, from the first rank; empty from the others."""


@dataclass(frozen=True)
class TrainerState(Message):
    """The whole state, from the first rank; empty from the others."""

    arrays: Arrays


@dataclass(frozen=True)
class GroupBroken(Message):
    """The group has lost a member; this trainer has left it and ignores its other requests."""

    generation: int
    updates: int
    """Updates that the trainer has made and keeps."""
    reason: str
    is_out_of_memory: bool = False
    """Whether a part of a batch did not fit into the memory of its device."""


@dataclass(frozen=True)
class Diverged(Message):
    """A loss is not finite; this trainer has left its group and ignores its other requests."""

    generation: int
    reason: str
