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
    Look,
    MatchGame,
    MatchPlan,
    MatchReport,
    Strength,
    part_seed,
    play_part,
    report_match,
    ruler_for,
)
from rookery.base import RookeryError, fingerprint
from rookery.games import Game, game, is_shipped
from rookery.run.contestants import Contestant
from rookery.runtime import Link, Message, text_array

WAIT_SECONDS = 1.0


@dataclass(frozen=True)
class MatchCase:
    """Two contestants against each other."""

    game: str
    """Name of the game, or the path of its rules file."""
    plan: MatchPlan
    a: Contestant
    b: Contestant
    digest: str = ""
    """SHA-256 of the rules file; empty for a shipped game."""

    @property
    def contestants(self) -> tuple[Contestant, ...]:
        """Who plays."""
        return self.a, self.b

    @property
    def parts(self) -> int:
        """How many looks it takes."""
        return self.plan.parts

    def on(self, device: str) -> "MatchCase":
        """The same with nets evaluated there."""
        return replace(self, a=replace(self.a, devices=device), b=replace(self.b, devices=device))

    def look(self, part: int) -> Look:
        """The games of one part."""
        rules, seed = game(self.game, self.digest), self.plan.seed
        a = self.a.player(rules, seed=part_seed(seed, part, side=0))
        b = self.b.player(rules, seed=part_seed(seed, part, side=1))
        played = play_part(rules, a, b, self.plan.openings(rules, part))
        return [each.to_plain() for each in played]

    def conclude(self, looks: Sequence[Look]) -> MatchReport:
        """The report on all games."""
        rules = game(self.game, self.digest)
        names = [each.player(rules, seed=0).name for each in self.contestants]
        played = [MatchGame.from_plain(plain) for look in looks for plain in look]
        return report_match(names[0], names[1], played=played)


@dataclass(frozen=True)
class StrengthCase:
    """One contestant, beside the ruler of its game."""

    game: str
    """Name of the game, or the path of its rules file."""
    contestant: Contestant
    seed: int
    digest: str = ""
    """SHA-256 of the rules file; empty for a shipped game."""

    @property
    def contestants(self) -> tuple[Contestant, ...]:
        """Who is measured."""
        return (self.contestant,)

    @property
    def parts(self) -> int:
        """How many looks it takes."""
        return ruler_for(game(self.game, self.digest)).parts

    def on(self, device: str) -> "StrengthCase":
        """The same with the net evaluated there."""
        return replace(self, contestant=replace(self.contestant, devices=device))

    def look(self, part: int) -> Look:
        """What the ruler sees in one part."""
        rules = game(self.game, self.digest)
        player = self.contestant.player(rules, seed=part_seed(self.seed, part, side=0))
        return ruler_for(rules).look(player, part)

    def conclude(self, looks: Sequence[Look]) -> Strength:
        """What the ruler says of it all."""
        return ruler_for(game(self.game, self.digest)).conclude(looks)


Case = MatchCase | StrengthCase


def source_of(rules: Game) -> str:
    """What another process finds `rules` by: their name if they are shipped, else their file."""
    is_ours = is_shipped(rules.name) and game(rules.name) is rules
    return rules.name if is_ours else str(rules.module.__file__)


def judge(link: Link, job: Mapping[str, Any]) -> None:
    """Look at the parts that the coordinator names, and tell what was seen."""
    cases: list[Case] = []
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


def answer(case: Case, order: Message) -> Message:
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


def pack_cases(cases: Sequence[Case]) -> Message:
    """Cases as one message, in which the same weights come once."""
    weights = {
        fingerprint(payload): text_array(payload)
        for case in cases
        for each in case.contestants
        for payload in each.files()
    }
    return Message("cases", {"cases": [_to_plain(case) for case in cases]}, weights)


def unpack_cases(message: Message) -> list[Case]:
    """The cases that were packed."""
    weights = {name: array.tobytes() for name, array in message.arrays.items()}
    return [_from_plain(plain, weights) for plain in message.header["cases"]]


def _to_plain(case: Case) -> dict[str, Any]:
    contestants = [each.to_plain() for each in case.contestants]
    plain = {"game": case.game, "digest": case.digest, "contestants": contestants}
    if isinstance(case, MatchCase):
        return {**plain, "plan": asdict(case.plan)}
    return {**plain, "seed": case.seed}


def _from_plain(plain: Mapping[str, Any], weights: Mapping[str, bytes]) -> Case:
    first, *rest = (Contestant.from_plain(each, weights) for each in plain["contestants"])
    name, digest = plain["game"], plain["digest"]
    if "plan" in plain:
        return MatchCase(name, MatchPlan(**plain["plan"]), first, rest[0], digest=digest)
    return StrengthCase(name, first, plain["seed"], digest=digest)
