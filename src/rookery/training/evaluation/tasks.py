"""Evaluation tasks: a match, a strength test, or pairs of games, in parts for any process.

All processes get the same result for the same part: the players are created again for every part,
with seeds of their own, and networks are evaluated on one thread, since the number of threads
changes the last bits.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

import torch

from rookery import __version__
from rookery.arena import (
    MatchGame,
    MatchPlan,
    MatchReport,
    Opening,
    Pair,
    PartResult,
    Strength,
    part_seed,
    play_pairs,
    play_part,
    report_match,
    strength_test_for,
)
from rookery.base import RookeryError
from rookery.games import Game, is_shipped, load_game
from rookery.gpu import collected_notes
from rookery.training.evaluation.player_spec import PlayerSpec
from rookery.workers import Channel, Message, Ready

WAIT_SECONDS = 1.0


@dataclass(frozen=True)
class MatchTask:
    """A match of two players."""

    game: str
    """Name of the game, or the path of its rules file."""
    plan: MatchPlan
    a: PlayerSpec
    b: PlayerSpec
    digest: str = ""
    """SHA-256 of the rules file; empty for a bundled game."""

    @property
    def parts(self) -> int:
        """The number of parts."""
        return self.plan.parts

    def on(self, device: str) -> "MatchTask":
        """Return the task with networks evaluated on `device`."""
        return replace(self, a=replace(self.a, devices=device), b=replace(self.b, devices=device))

    def measure_part(self, part: int) -> PartResult:
        """Play the games of one part."""
        game, seed = load_game(self.game, self.digest), self.plan.seed
        a = self.a.player(game, seed=part_seed(seed, part, side=0))
        b = self.b.player(game, seed=part_seed(seed, part, side=1))
        played = play_part(game, a, b, self.plan.openings(game, part))
        return [each.to_plain() for each in played]

    def combine(self, results: Sequence[PartResult]) -> MatchReport:
        """Return the report on the results of all parts."""
        game = load_game(self.game, self.digest)
        a, b = (player.player(game, seed=0).name for player in (self.a, self.b))
        played = [MatchGame.from_plain(plain) for result in results for plain in result]
        return report_match(a, b, played=played)


@dataclass(frozen=True)
class StrengthTask:
    """The strength test of a game, for one player."""

    game: str
    """Name of the game, or the path of its rules file."""
    player: PlayerSpec
    seed: int
    digest: str = ""
    """SHA-256 of the rules file; empty for a bundled game."""

    @property
    def parts(self) -> int:
        """The number of parts."""
        return strength_test_for(load_game(self.game, self.digest)).parts

    def on(self, device: str) -> "StrengthTask":
        """Return the task with the network evaluated on `device`."""
        return replace(self, player=replace(self.player, devices=device))

    def measure_part(self, part: int) -> PartResult:
        """Run one part of the test."""
        game = load_game(self.game, self.digest)
        player = self.player.player(game, seed=part_seed(self.seed, part, side=0))
        return strength_test_for(game).measure_part(player, part)

    def combine(self, results: Sequence[PartResult]) -> Strength:
        """Return the strength by the results of all parts."""
        return strength_test_for(load_game(self.game, self.digest)).combine(results)


@dataclass(frozen=True)
class PairsTask:
    """Pairs of games of a player against several opponents."""

    game: str
    """Name of the game, or the path of its rules file."""
    player: PlayerSpec
    opponents: tuple[PlayerSpec, ...]
    pairs: tuple[tuple[int, Opening], ...]
    """The opponent, by its index, and the opening of each pair."""
    seed: int
    part_size: int
    """Pairs that are played in lockstep."""
    digest: str = ""
    """SHA-256 of the rules file; empty for a bundled game."""

    @property
    def parts(self) -> int:
        """The number of parts."""
        return ceil(len(self.pairs) / self.part_size)

    def on(self, device: str) -> "PairsTask":
        """Return the task with networks evaluated on `device`."""
        opponents = tuple(replace(each, devices=device) for each in self.opponents)
        return replace(self, player=replace(self.player, devices=device), opponents=opponents)

    def measure_part(self, part: int) -> PartResult:
        """Play the pairs of one part, with players that are created for it."""
        game, pairs = load_game(self.game, self.digest), self._pairs(part)
        player = self.player.player(game, seed=part_seed(self.seed, part, side=0))
        met = sorted({opponent for opponent, _ in pairs})
        opponents = [
            self.opponents[number].player(game, seed=part_seed(self.seed, part, side=1 + number))
            for number in met
        ]
        chosen = [(met.index(opponent), opening) for opponent, opening in pairs]
        return [
            [met[number], *(each.to_plain() for each in pair)]
            for number, pair in play_pairs(game, player, opponents, chosen)
        ]

    def combine(self, results: Sequence[PartResult]) -> list[tuple[int, Pair]]:
        """Return all pairs that were played, with the indices of the opponents."""
        return [
            (opponent, (MatchGame.from_plain(one), MatchGame.from_plain(other)))
            for result in results
            for opponent, one, other in result
        ]

    def _pairs(self, part: int) -> tuple[tuple[int, Opening], ...]:
        return self.pairs[part * self.part_size :][: self.part_size]


EvaluationTask = MatchTask | StrengthTask | PairsTask


@dataclass(frozen=True)
class Tasks(Message):
    """The tasks whose parts a worker may be asked for; weights that they share travel once."""

    tasks: tuple[EvaluationTask, ...]


@dataclass(frozen=True)
class RunPart(Message):
    """Run one part of a task; the reply is PartDone or PartRefused."""

    task: int
    part: int


@dataclass(frozen=True)
class PartDone(Message):
    """The result of a part."""

    task: int
    part: int
    result: list[Any]
    """A PartResult, as JSON."""
    seconds: float = 0.0
    """Time that it took."""
    notes: list[str] = field(default_factory=list)
    """Notes on a GPU that had too little memory."""


@dataclass(frozen=True)
class PartRefused(Message):
    """The part cannot be run by any worker, because of a mistake in the task."""

    reason: str


def run_part(tasks: Tasks, message: RunPart, *, device: str = "") -> PartDone | PartRefused:
    """Run a part and return the reply; `device`, if given, evaluates the networks."""
    task, begun = tasks.tasks[message.task], time.perf_counter()
    try:
        with collected_notes() as notes:
            result = (task.on(device) if device else task).measure_part(message.part)
        return PartDone(message.task, message.part, result, time.perf_counter() - begun, notes)
    except RookeryError as error:
        return PartRefused(str(error))


def source_of(game: Game) -> str:
    """Return where another process finds a game: its name if it is bundled, else its file."""
    is_bundled = is_shipped(game.name) and load_game(game.name) is game
    return game.name if is_bundled else str(game.path)


@contextmanager
def one_thread_for_nets() -> Iterator[None]:
    """Evaluate networks on one thread: every process of a machine then gets the same bits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def evaluation_worker(channel: Channel, job: str) -> None:
    """Run the parts that the coordinator asks for, until the channel closes.

    The job is the device that evaluates networks; empty = the one that the tasks name.
    """
    tasks = Tasks(())
    with one_thread_for_nets():
        channel.send(Ready(__version__))
        while True:
            match channel.receive(WAIT_SECONDS):
                case Tasks() as tasks:
                    continue
                case RunPart() as message:
                    channel.send(run_part(tasks, message, device=job))
