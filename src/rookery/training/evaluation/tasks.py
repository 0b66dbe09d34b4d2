"""A judge: looks at the parts of a match or of a measurement, wherever it runs.

A case is what is to be judged. Any process that knows it sees the same in the same part: the
players are made anew for every part, with seeds of its own, and nets are evaluated on one thread,
since the number of threads shows in the last bits.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from rookery import __version__
from rookery.arena import (
    MatchGame,
    MatchPlan,
    MatchReport,
    PartResult,
    Strength,
    part_seed,
    play_part,
    report_match,
    strength_test_for,
)
from rookery.base import RookeryError, fingerprint
from rookery.games import Game, is_shipped, load_game
from rookery.training.evaluation.player_spec import PlayerSpec
from rookery.workers import Channel, Message, bytes_array

WAIT_SECONDS = 1.0


@dataclass(frozen=True)
class MatchTask:
    """Two contestants against each other."""

    game: str
    """Name of the game, or the path of its rules file."""
    plan: MatchPlan
    a: PlayerSpec
    b: PlayerSpec
    digest: str = ""
    """SHA-256 of the rules file; empty for a shipped game."""

    @property
    def players(self) -> tuple[PlayerSpec, ...]:
        """Who plays."""
        return self.a, self.b

    @property
    def parts(self) -> int:
        """How many looks it takes."""
        return self.plan.parts

    def on(self, device: str) -> "MatchTask":
        """The same with nets evaluated there."""
        return replace(self, a=replace(self.a, devices=device), b=replace(self.b, devices=device))

    def look(self, part: int) -> PartResult:
        """The games of one part."""
        rules, seed = load_game(self.game, self.digest), self.plan.seed
        a = self.a.player(rules, seed=part_seed(seed, part, side=0))
        b = self.b.player(rules, seed=part_seed(seed, part, side=1))
        played = play_part(rules, a, b, self.plan.openings(rules, part))
        return [each.to_plain() for each in played]

    def conclude(self, looks: Sequence[PartResult]) -> MatchReport:
        """The report on all games."""
        rules = load_game(self.game, self.digest)
        names = [each.player(rules, seed=0).name for each in self.players]
        played = [MatchGame.from_plain(plain) for look in looks for plain in look]
        return report_match(names[0], names[1], played=played)


@dataclass(frozen=True)
class StrengthTask:
    """One contestant, beside the ruler of its game."""

    game: str
    """Name of the game, or the path of its rules file."""
    player: PlayerSpec
    seed: int
    digest: str = ""
    """SHA-256 of the rules file; empty for a shipped game."""

    @property
    def players(self) -> tuple[PlayerSpec, ...]:
        """Who is measured."""
        return (self.player,)

    @property
    def parts(self) -> int:
        """How many looks it takes."""
        return strength_test_for(load_game(self.game, self.digest)).parts

    def on(self, device: str) -> "StrengthTask":
        """The same with the net evaluated there."""
        return replace(self, player=replace(self.player, devices=device))

    def look(self, part: int) -> PartResult:
        """What the ruler sees in one part."""
        rules = load_game(self.game, self.digest)
        player = self.player.player(rules, seed=part_seed(self.seed, part, side=0))
        return strength_test_for(rules).measure_part(player, part)

    def conclude(self, looks: Sequence[PartResult]) -> Strength:
        """What the ruler says of it all."""
        return strength_test_for(load_game(self.game, self.digest)).combine(looks)


EvaluationTask = MatchTask | StrengthTask


def source_of(rules: Game) -> str:
    """What another process finds `rules` by: their name if they are shipped, else their file."""
    is_ours = is_shipped(rules.name) and load_game(rules.name) is rules
    return rules.name if is_ours else str(rules.path)


def evaluate(link: Channel, job: Mapping[str, Any]) -> None:
    """Look at the parts that the coordinator names, and tell what was seen."""
    cases: list[EvaluationTask] = []
    with one_thread_for_nets():
        link.send(Message("ready", {"rookery": __version__}))
        while True:
            message = link.receive(WAIT_SECONDS)
            if message is None:
                continue
            if message.kind == "cases":
                cases = unpack_cases(message)
            elif message.kind == "look":
                link.send(answer(cases[message.header["case"]], message))


def answer(case: EvaluationTask, order: Message) -> Message:
    """What was seen in a part, or why no judge at all can look at it."""
    try:
        return Message("seen", {**order.header, "look": case.look(order.header["part"])})
    except RookeryError as error:
        return Message("refused", {"reason": str(error)})


@contextmanager
def one_thread_for_nets() -> Iterator[None]:
    """Nets that are made and asked inside give the same bits in every process of this machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def pack_cases(cases: Sequence[EvaluationTask]) -> Message:
    """Cases as one message, in which the same weights come once."""
    weights = {
        fingerprint(payload): bytes_array(payload)
        for case in cases
        for each in case.players
        for payload in each.files()
    }
    return Message("cases", {"cases": [_to_plain(case) for case in cases]}, weights)


def unpack_cases(message: Message) -> list[EvaluationTask]:
    """The cases that were packed."""
    weights = {name: array.tobytes() for name, array in message.arrays.items()}
    return [_from_plain(plain, weights) for plain in message.header["cases"]]


def _to_plain(case: EvaluationTask) -> dict[str, Any]:
    players = [each.to_plain() for each in case.players]
    plain = {"game": case.game, "digest": case.digest, "contestants": players}
    if isinstance(case, MatchTask):
        return {**plain, "plan": asdict(case.plan)}
    return {**plain, "seed": case.seed}


def _from_plain(plain: Mapping[str, Any], weights: Mapping[str, bytes]) -> EvaluationTask:
    first, *rest = (PlayerSpec.from_plain(each, weights) for each in plain["contestants"])
    name, digest = plain["game"], plain["digest"]
    if "plan" in plain:
        return MatchTask(name, MatchPlan(**plain["plan"]), first, rest[0], digest=digest)
    return StrengthTask(name, first, plain["seed"], digest=digest)
