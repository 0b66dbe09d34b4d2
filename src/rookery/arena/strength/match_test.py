"""The strength test of games without a solver: matches against fixed opponents."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from rookery.arena.match import MatchPlan, MatchReport, part_seed, play_part, report_match
from rookery.arena.openings import has_book
from rookery.arena.pairs import MatchGame
from rookery.arena.player import Player
from rookery.arena.players.minimax import MinimaxPlayer
from rookery.arena.players.random import RandomPlayer
from rookery.arena.strength.strength_test import (
    PartResult,
    Percentage,
    Strength,
    StrengthRow,
    StrengthTest,
)
from rookery.games import Game


@dataclass(frozen=True)
class MatchTest(StrengthTest):
    """Counts the points lost in a match against minimax:2 and in one against random."""

    game: Game
    games: int = 64
    """Number of games in each match."""
    opening_plies: int = 2
    """Length of random openings, for games without a book."""
    seed: int = 0

    @property
    def parts(self) -> int:
        """Number of parts: those of the first match, then those of the second."""
        return 2 * self._plan.parts

    def measure_part(self, player: Player, part: int) -> PartResult:
        """Return the games of one part, against an opponent created for it."""
        match, part_of_match = divmod(part, self._plan.parts)
        opponent = self._opponents(part_seed(self.seed, part, side=1))[match]
        openings = self._plan.openings(self.game, part_of_match)
        return [played.to_plain() for played in play_part(self.game, player, opponent, openings)]

    def combine(self, results: Sequence[PartResult]) -> Strength:
        """Return the points lost to minimax:2, then those lost to random."""
        games = [MatchGame.from_plain(plain) for plain in chain(*results)]
        matches = (games[: self.games], games[self.games :])
        rows = tuple(
            _row(report_match("player", opponent.name, played=played))
            for opponent, played in zip(self._opponents(self.seed), matches, strict=True)
        )
        return Strength(rows[0].errors.percent, f"points lost to {rows[0].label}", rows)

    @property
    def _plan(self) -> MatchPlan:
        book = has_book(self.game)
        return MatchPlan(self.games, self.seed, self.opening_plies, book=book)

    def _opponents(self, seed: int) -> tuple[Player, Player]:
        return MinimaxPlayer(self.game, 2, seed=seed), RandomPlayer(self.game, seed)


def _row(report: MatchReport) -> StrengthRow:
    total, difference = report.total, report.difference
    points_lost = Percentage(
        count=total.losses + total.draws / 2,
        percent=100 * (1 - difference.score),
        low=100 * (1 - difference.score_high),
        high=100 * (1 - difference.score_low),
    )
    return StrengthRow(report.b, total.games, points_lost, None)
