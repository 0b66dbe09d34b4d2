"""What the coordinator and its actors tell each other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from rookery.selfplay import SelfPlayReport
from rookery.workers import Message, Ready


@dataclass(frozen=True)
class ActorReady(Ready):
    """An actor can play."""

    games: int
    """Games that it plays at once: fewer than asked for if its GPU has no memory for all."""


@dataclass(frozen=True)
class NewWeights(Message):
    """Play with these weights from now on."""

    version: int
    weights: bytes


@dataclass(frozen=True)
class Play(Message):
    """Make `moves` moves in every game."""

    order: int
    moves: int
    progress: float
    iteration: int


@dataclass(frozen=True)
class GamesPlayed(Message):
    """The games that ended while an order was carried out."""

    order: int
    version: int
    """Version of the weights they were played with."""
    report: SelfPlayReport
    columns: Mapping[str, NDArray[Any]]
    """Their rows (see `replay.to_columns`)."""
