"""A ladder: opponents of known strength, rated on one scale by matches between them.

The files in `ladders/` hold one each: `tools/make_chess_ladder.py` creates the one for chess,
`tools/make_ladder.py` those of the other games. The ladder of a game without a file consists of
random and minimax players, which are rated before a player is.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import pairwise

from rookery.arena.lockstep import legal_mask, sample_states
from rookery.arena.players.engine_spec import FAMILIES
from rookery.arena.players.named import named_player
from rookery.arena.rating.bradley_terry import PairResults, rate_all
from rookery.base import ConfigError, UnknownName
from rookery.games import Game, plain_name

LADDERS = {"chess": "stockfish", "connect4": "connect4", "tictactoe": "tictactoe"}
"""The name of the ladder that ships with each game."""
SLOW = (*FAMILIES, "solver")
"""Players that need another program, or seconds for a move; a run measures itself without them."""
DEPTHS = (1, 2, 3, 4)
MAX_LINES = 20_000
"""Lines of play that the deepest minimax player of a new ladder may have to search for a move."""


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

    @property
    def players(self) -> list[str]:
        """The names of its opponents."""
        return [rung.player for rung in self.rungs]

    def only(self, players: Sequence[str]) -> "Ladder":
        """Return the ladder with some of its rungs; raise UnknownName for one it does not have."""
        for player in players:
            if player not in self.players:
                raise UnknownName(f"rung of {self.name}", player, self.players)
        return replace(self, rungs=tuple(rung for rung in self.rungs if rung.player in players))

    def check(self, game: Game) -> None:
        """Raise ConfigError unless the ladder is for `game` and all its engines are installed."""
        if self.game not in (game.name, plain_name(game.name)):
            raise ConfigError(f"the ladder {self.name} is for {self.game}, not {game.name}")
        for rung in self.rungs:
            try:
                named_player(rung.player, game, seed=0)
            except ConfigError as error:
                plain = ",".join(n for n in self.players if n.partition(":")[0] not in FAMILIES)
                raise ConfigError(f"{error}; or rate with --rungs {plain}") from error


def load_ladder(name: str) -> Ladder:
    """Return a ladder that ships with Rookery."""
    if name not in LADDERS.values():
        raise UnknownName("ladder", name, LADDERS.values())
    text = (files("rookery.arena") / "ladders" / f"{name}.json").read_text("utf-8")
    plain = json.loads(text)
    return Ladder(plain["name"], plain["game"], tuple(Rung(**rung) for rung in plain["rungs"]))


def ladder_of(game: Game) -> Ladder | None:
    """Return the ladder that ships with a game; None for a game of the user's own."""
    name = LADDERS.get(plain_name(game.name)) if not game.digest else None
    return load_ladder(name) if name else None


def anchors_of(game: Game) -> dict[str, float | None]:
    """Return fast opponents, the weakest first, with their ratings, None if one is not known.

    Without a ladder only the rating of `random` is known: 0.
    """
    if ladder := ladder_of(game):
        kept = (rung for rung in ladder.rungs if _family(rung.player) not in SLOW)
        return {rung.player: rung.elo for rung in kept}
    states = sample_states(game)
    moves = legal_mask(game, states).sum() / len(states)
    depths = [depth for depth in DEPTHS if depth == 1 or moves**depth <= MAX_LINES]
    return {"random": 0.0, **{f"minimax:{depth}": None for depth in depths}}


def neighbours(players: Sequence[str]) -> list[tuple[str, str]]:
    """Return the matches that rate players, the weakest first: each against the next two."""
    return [*pairwise(players), *zip(players, players[2:], strict=False)]


def fit_ladder(name: str, game: Game, results: Iterable[PairResults]) -> Ladder:
    """Return the ladder of players that have played matches; `random`, or the first one, is 0."""
    played = list(results)
    players = list(dict.fromkeys(name for each in played for name in (each.a, each.b)))
    zero = "random" if "random" in players else players[0]
    ratings = rate_all(played, {zero: 0.0})
    rungs = [
        Rung(
            player,
            elo=round(rating.elo),
            low=round(rating.low),
            high=round(rating.high),
            games=sum(2 * each.pairs for each in played if player in (each.a, each.b)),
        )
        for player, rating in ratings.items()
    ]
    return Ladder(name, game.name, tuple(sorted(rungs, key=lambda rung: rung.elo)))


def _family(player: str) -> str:
    return player.partition("~")[0].partition(":")[0]
