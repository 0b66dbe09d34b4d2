"""A ladder: opponents of known strength, rated on one scale by matches between them.

The files in `ladders/` hold one each; `tools/make_chess_ladder.py` creates the one for chess.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from rookery.arena.players.engine_spec import FAMILIES
from rookery.arena.players.named import named_player
from rookery.base import ConfigError, UnknownName
from rookery.games import Game

LADDERS = ("stockfish",)


@dataclass(frozen=True)
class Rung:
    """One opponent of a ladder."""

    player: str
    """Its name, for `named_player`."""
    elo: float
    low: float
    high: float
    """The 95 % interval of `elo`, relative to the anchor of the scale."""
    games: int
    """Number of games that its rating is based on."""


@dataclass(frozen=True)
class Ladder:
    """Opponents in one game, from the weakest to the strongest."""

    name: str
    game: str
    rungs: tuple[Rung, ...]

    def only(self, players: Sequence[str]) -> "Ladder":
        """Return the ladder with some of its rungs; raise UnknownName for one it does not have."""
        known = [rung.player for rung in self.rungs]
        for player in players:
            if player not in known:
                raise UnknownName(f"rung of {self.name}", player, known)
        return replace(self, rungs=tuple(rung for rung in self.rungs if rung.player in players))

    def check(self, game: Game) -> None:
        """Raise ConfigError unless the ladder is for `game` and all its engines are installed."""
        if game.name != self.game:
            raise ConfigError(f"the ladder {self.name} is for {self.game}, not {game.name}")
        for rung in self.rungs:
            try:
                named_player(rung.player, game, seed=0)
            except ConfigError as error:
                names = [rung.player for rung in self.rungs]
                plain = ",".join(n for n in names if n.partition(":")[0] not in FAMILIES)
                raise ConfigError(f"{error}; or rate with --rungs {plain}") from error


def load_ladder(name: str) -> Ladder:
    """Return a ladder that ships with Rookery."""
    if name not in LADDERS:
        raise UnknownName("ladder", name, LADDERS)
    text = (files("rookery.arena") / "ladders" / f"{name}.json").read_text("utf-8")
    plain = json.loads(text)
    return Ladder(plain["name"], plain["game"], tuple(Rung(**rung) for rung in plain["rungs"]))
