"""A match of two players: pairs of games from the same opening, with colours swapped.

A match is divided into parts, which may be played by different processes in any order. The size
of a part depends on the number of games alone, so the games do not depend on the processes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from rookery.arena.openings import Opening, draw_openings
from rookery.arena.pairs import MatchGame, play_pairs
from rookery.arena.player import Player
from rookery.arena.rating.elo import EloDifference, elo_difference
from rookery.arena.rating.estimate import RatingEstimate
from rookery.base import ConfigError, generator
from rookery.games import DRAW, LOSS, WIN, Game

MAX_PARTS = 16


@dataclass(frozen=True)
class MatchPlan:
    """The number of games and the openings of a match, independent of the players."""

    games: int
    seed: int
    """Random seed for the openings."""
    opening_plies: int
    """Length of random openings; ignored with `book`."""
    smallest_part: int = 16
    """Minimum number of pairs in a part; they are played in lockstep."""
    book: bool = False
    """Whether the openings come from the book of the game."""

    def __post_init__(self) -> None:
        if self.games < 2 or self.games % 2:
            raise ConfigError(
                f"a match is played in pairs: games must be even and not 0, got {self.games}"
            )

    @property
    def parts(self) -> int:
        """Number of parts."""
        return ceil(self.games // 2 / self._pairs_per_part)

    def openings(self, game: Game, part: int) -> list[Opening]:
        """Return the openings of a part, one per pair."""
        openings = draw_openings(
            game, self.games // 2, plies=self.opening_plies, seed=self.seed, from_book=self.book
        )
        return openings[part * self._pairs_per_part :][: self._pairs_per_part]

    @property
    def _pairs_per_part(self) -> int:
        return max(self.smallest_part, ceil(self.games // 2 / MAX_PARTS))


@dataclass(frozen=True)
class WinDrawLoss:
    """Numbers of games won, drawn and lost."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """Number of all games."""
        return self.wins + self.draws + self.losses


@dataclass(frozen=True)
class MatchReport:
    """The result of a match, from the point of view of a.

    Games 2n and 2n + 1 are a pair; a moves first in game 2n.
    """

    a: str
    b: str
    total: WinDrawLoss
    first: WinDrawLoss
    """Games in which a had the side that moves first."""
    second: WinDrawLoss
    distinct_games: int
    """Games with different moves, opening included. If they are far fewer than all games, the
    interval of `difference` is too narrow."""
    difference: EloDifference
    games: tuple[MatchGame, ...]

    @property
    def elo(self) -> RatingEstimate:
        """The Elo difference of a over b, with its 95 % interval."""
        return RatingEstimate(self.difference.elo, self.difference.low, self.difference.high)

    @property
    def faults(self) -> list[str]:
        """Reasons of the forfeited games, one line for each."""
        return [game.fault for game in self.games if game.fault]


def play_part(game: Game, a: Player, b: Player, openings: Sequence[Opening]) -> list[MatchGame]:
    """Play two games from each opening, all in lockstep."""
    played = play_pairs(game, a, [b], [(0, opening) for opening in openings])
    return [each for _, pair in played for each in pair]


def part_seed(seed: int, part: int, *, side: int) -> int:
    """Return the seed of a player that is created for one part; `side` is 0 for a, 1 for b."""
    return int(generator(seed, "arena/part", part, side).integers(2**62))


def report_match(a: str, b: str, *, played: Sequence[MatchGame]) -> MatchReport:
    """Return the report on the games of a match between players with these names."""
    return MatchReport(
        a=a,
        b=b,
        total=count_results(played),
        first=count_results([game for game in played if game.a_first]),
        second=count_results([game for game in played if not game.a_first]),
        distinct_games=count_distinct(played),
        difference=elo_difference(pair_scores(played)),
        games=tuple(played),
    )


def count_results(played: Sequence[MatchGame]) -> WinDrawLoss:
    """Return the numbers of games that a won, drew and lost."""
    results = [game.result for game in played]
    return WinDrawLoss(results.count(WIN), results.count(DRAW), results.count(LOSS))


def count_distinct(played: Sequence[MatchGame]) -> int:
    """Return the number of games with different moves, opening included."""
    return len({game.opening + game.moves for game in played})


def pair_scores(played: Sequence[MatchGame]) -> list[float]:
    """Return the score of a in each pair, from 0 to 1; games 2n and 2n + 1 are a pair."""
    pairs = zip(played[::2], played[1::2], strict=True)
    return [(one.result + other.result + 2) / 4 for one, other in pairs]
