"""A ladder: opponents of known strength, its rungs, on one scale that matches between them fixed.

A file of `ladders/` holds one; `tools/make_chess_ladder.py` makes that of chess.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from rookery.arena.players import named_player
from rookery.arena.players.engine_specs import FAMILIES
from rookery.base import ConfigError, UnknownName
from rookery.games import Game

LADDERS = ("stockfish",)


@dataclass(frozen=True)
class Rung:
    """One opponent."""

    player: str
    """What `plain_player` makes it from."""
    elo: float
    low: float
    high: float
    """The 95 % interval of `elo`, beside the rung that the scale is anchored at."""
    games: int
    """Games it was placed by."""


@dataclass(frozen=True)
class Ladder:
    """Opponents of a game, the weakest first."""

    name: str
    game: str
    rungs: tuple[Rung, ...]

    def only(self, players: Sequence[str]) -> "Ladder":
        """The ladder with some of its rungs; ConfigError for one that it does not have."""
        known = [rung.player for rung in self.rungs]
        for player in players:
            if player not in known:
                raise UnknownName(f"rung of {self.name}", player, known)
        return replace(self, rungs=tuple(rung for rung in self.rungs if rung.player in players))

    def check(self, game: Game) -> None:
        """ConfigError unless the ladder is of `game` and every opponent is on this machine."""
        if game.name != self.game:
            raise ConfigError(f"the ladder {self.name} is of {self.game}, not {game.name}")
        for rung in self.rungs:
            try:
                named_player(rung.player, game, seed=0)
            except ConfigError as error:
                raise ConfigError(f"{error}; or rate by --rungs {self._plain()}") from error

    def _plain(self) -> str:
        """The rungs that need no engine."""
        names = [rung.player for rung in self.rungs]
        return ",".join(name for name in names if name.partition(":")[0] not in FAMILIES)


def load_ladder(name: str) -> Ladder:
    """A ladder that comes with Rookery."""
    if name not in LADDERS:
        raise UnknownName("ladder", name, LADDERS)
    text = (files("rookery.arena") / "ladders" / f"{name}.json").read_text("utf-8")
    plain = json.loads(text)
    return Ladder(plain["name"], plain["game"], tuple(Rung(**rung) for rung in plain["rungs"]))
