"""Rate a player on a ladder: it plays most of its games against opponents of similar strength.

A fixed number of games is in flight. The player searches in half of them while its opponents move
in the other half. When a pair ends, the next one starts against the most informative opponent.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from rookery.arena.match import WinDrawLoss, count_distinct, count_results, pair_scores, part_seed
from rookery.arena.openings import draw_openings, has_book
from rookery.arena.pairs import GamesInFlight, MatchGame, Pair
from rookery.arena.player import Player
from rookery.arena.players.named import named_player
from rookery.arena.rating.elo import expected_score
from rookery.arena.rating.estimate import RatingEstimate, estimate_rating, next_rung
from rookery.arena.rating.ladder import Ladder, Rung
from rookery.base import ConfigError, out_of_range
from rookery.games import Game

MAX_WIDTH = 10_000
OPENING_PLIES = 4
"""Length of random openings, for games without a book."""


@dataclass(frozen=True)
class RatingPlan:
    """The number of games of a rating."""

    games: int = 200
    """Maximum number of games."""
    width: float = 0.0
    """No pair starts once the 95 % interval is narrower than this, in Elo."""
    at_once: int = 64
    """Maximum number of games in flight. It is also limited to a quarter of all games, so that
    later opponents are chosen with a good estimate."""
    seed: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.width <= MAX_WIDTH:
            raise out_of_range("--width", self.width, (0, MAX_WIDTH), whole=False)
        for name in ("games", "at_once"):
            number = getattr(self, name)
            if number < 2 or number % 2:
                option = name.replace("_", "-")
                raise ConfigError(
                    f"games are played in pairs: {option} must be even and not 0, got {number}"
                )

    @property
    def pairs_in_flight(self) -> int:
        """Number of pairs in flight."""
        return max(1, min(self.at_once, self.games // 4) // 2)


@dataclass(frozen=True)
class RatedGame:
    """One game on a ladder; player a of `game` is the one that is rated."""

    rung: str
    game: MatchGame


@dataclass(frozen=True)
class RungResult:
    """The results of the player against one rung."""

    rung: Rung
    counts: WinDrawLoss
    expected: float
    """Points expected from a player with the estimated rating."""


@dataclass(frozen=True)
class RatingReport:
    """The rating of a player and the games that it is based on."""

    player: str
    ladder: str
    estimate: RatingEstimate
    margin: float
    """Uncertainty of the ladder near the estimate: half the 95 % interval of the nearest rung."""
    rows: tuple[RungResult, ...]
    """One row per rung, the weakest first."""
    distinct_games: int
    games: tuple[RatedGame, ...]
    """All games; games 2n and 2n + 1 are a pair."""
    was_interrupted: bool = False

    @property
    def faults(self) -> list[str]:
        """Reasons of the forfeited games, one line for each."""
        return [each.game.fault for each in self.games if each.game.fault]


RatingCallback = Callable[[int, RatingEstimate], None]
"""Called when pairs finish, with the number of finished games and the current estimate."""


def rate_player(
    game: Game,
    player: Player,
    ladder: Ladder,
    *,
    plan: RatingPlan,
    callback: RatingCallback | None = None,
) -> RatingReport:
    """Rate a player on a ladder.

    After a KeyboardInterrupt the report covers the finished pairs; without any, it is raised.
    """
    ladder.check(game)
    rating = _Rating(game, player, ladder, plan)
    try:
        with ThreadPoolExecutor(1) as executor:
            while rating.start_pairs():
                rating.in_flight.play_ply(executor)
                if rating.collect() and callback:
                    callback(2 * len(rating.finished), rating.estimate())
    except KeyboardInterrupt:
        if not rating.finished:
            raise
        return rating.report(was_interrupted=True)
    return rating.report()


class _Rating:
    """The finished pairs, the pairs in flight and the choice of the next opponent."""

    def __init__(self, game: Game, player: Player, ladder: Ladder, plan: RatingPlan) -> None:
        self._player, self._ladder, self._plan = player, ladder, plan
        self._elos = [rung.elo for rung in ladder.rungs]
        self._openings = draw_openings(
            game, plan.games // 2, plies=OPENING_PLIES, seed=plan.seed, from_book=has_book(game)
        )
        self._assigned = [0] * len(ladder.rungs)
        opponents = [
            named_player(rung.player, game, seed=part_seed(plan.seed, number, side=1))
            for number, rung in enumerate(ladder.rungs)
        ]
        self.in_flight = GamesInFlight(game, player, opponents, plan.pairs_in_flight)
        self.finished: list[tuple[int, Pair]] = []
        """The finished pairs with the indices of their rungs."""

    def start_pairs(self) -> bool:
        """Fill the free slots as far as more games are needed. Return whether any are in flight."""
        free = self.in_flight.free_slots()
        while free and (rung := self._next_rung()) is not None:
            opening = self._openings[sum(self._assigned)]
            self._assigned[rung] += 1
            self.in_flight.start_pair(free.pop(), opening, rung)
        return sum(self._assigned) > len(self.finished)

    def collect(self) -> bool:
        """Collect the pairs that have finished. Return whether there were any."""
        before = len(self.finished)
        self.finished.extend(self.in_flight.take_finished())
        return len(self.finished) > before

    def estimate(self) -> RatingEstimate:
        """Return the estimate from the finished pairs."""
        rungs = [rung for rung, _ in self.finished]
        return estimate_rating(self._elos, rungs, pair_scores(self._games()))

    def report(self, *, was_interrupted: bool = False) -> RatingReport:
        """Return the report on the finished pairs."""
        estimate, rungs = self.estimate(), self._ladder.rungs
        nearest = min(rungs, key=lambda rung: abs(rung.elo - estimate.elo))
        return RatingReport(
            player=self._player.name,
            ladder=self._ladder.name,
            estimate=estimate,
            margin=(nearest.high - nearest.low) / 2,
            rows=tuple(self._row(number, estimate.elo) for number in range(len(rungs))),
            distinct_games=count_distinct(self._games()),
            games=tuple(
                RatedGame(rungs[number].player, game)
                for number, pair in self.finished
                for game in pair
            ),
            was_interrupted=was_interrupted,
        )

    def _games(self) -> list[MatchGame]:
        return [game for _, pair in self.finished for game in pair]

    def _next_rung(self) -> int | None:
        """Return the rung of the next pair, or None if no pair is to start now.

        The choice follows the estimate once half as many pairs as rungs have finished.
        """
        if 2 * sum(self._assigned) >= self._plan.games:
            return None
        if 2 * len(self.finished) < len(self._elos):
            return next_rung(self._elos, self._assigned, None) if 0 in self._assigned else None
        estimate = self.estimate()
        if estimate.width <= self._plan.width:
            return None
        return next_rung(self._elos, self._assigned, estimate)

    def _row(self, number: int, elo: float) -> RungResult:
        games = [game for rung, pair in self.finished if rung == number for game in pair]
        expected = float(expected_score(elo - self._elos[number])) * len(games)
        return RungResult(self._ladder.rungs[number], count_results(games), expected)
