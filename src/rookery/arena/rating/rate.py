"""Rate a player on a ladder: it plays most of its games against opponents of similar strength.

A fixed number of games is in flight. The player searches in half of them while its opponents move
in the other half. When a pair ends, the next one starts against the most informative opponent.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from rookery.arena.match import WinDrawLoss, count_distinct, count_results, pair_scores, part_seed
from rookery.arena.openings import Opening, default_plies, draw_openings, has_book
from rookery.arena.pairs import GamesInFlight, MatchGame, Pair
from rookery.arena.player import Player
from rookery.arena.players.named import named_player
from rookery.arena.rating.elo import expected_score
from rookery.arena.rating.estimate import RatingEstimate, estimate_rating, next_rung
from rookery.arena.rating.ladder import Ladder, Rung
from rookery.base import ConfigError, out_of_range
from rookery.games import Game

MAX_WIDTH = 10_000


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
    rating = Rating(game, player.name, ladder, plan)
    opponents = [
        named_player(rung.player, game, seed=part_seed(plan.seed, number, side=1))
        for number, rung in enumerate(ladder.rungs)
    ]
    in_flight = GamesInFlight(game, player, opponents, plan.pairs_in_flight)
    try:
        with ThreadPoolExecutor(1) as executor:
            while True:
                for slot in in_flight.free_slots():
                    if pair := rating.start_pair():
                        in_flight.start_pair(slot, pair[1], pair[0])
                if not rating.num_in_flight:
                    return rating.report()
                in_flight.play_ply(executor)
                if rating.add(in_flight.take_finished()) and callback:
                    callback(2 * len(rating.finished), rating.estimate())
    except KeyboardInterrupt:
        if not rating.finished:
            raise
        return rating.report(was_interrupted=True)


class Rating:
    """The pairs of a rating: the choice of the next opponent, the finished ones, the report."""

    def __init__(self, game: Game, player: str, ladder: Ladder, plan: RatingPlan) -> None:
        """`player` is the name of the player that is rated."""
        self._player, self._ladder, self._plan = player, ladder, plan
        self._elos = [rung.elo for rung in ladder.rungs]
        self._openings = draw_openings(
            game,
            plan.games // 2,
            plies=default_plies(game),
            seed=plan.seed,
            from_book=has_book(game),
        )
        self._assigned = [0] * len(ladder.rungs)
        self.finished: list[tuple[int, Pair]] = []
        """The finished pairs with the indices of their rungs."""

    @property
    def num_in_flight(self) -> int:
        """Number of pairs that were started and have not finished."""
        return sum(self._assigned) - len(self.finished)

    def start_pair(self) -> tuple[int, Opening] | None:
        """Return the rung and the opening of the next pair; None if no pair is to start now.

        The choice follows the estimate once half as many pairs as rungs have finished.
        """
        number, estimate = sum(self._assigned), None
        if 2 * number >= self._plan.games:
            return None
        if 2 * len(self.finished) >= len(self._elos):
            estimate = self.estimate()
            if estimate.width <= self._plan.width:
                return None
        elif 0 not in self._assigned:
            return None
        rung = next_rung(self._elos, self._assigned, estimate)
        self._assigned[rung] += 1
        return rung, self._openings[number]

    def add(self, finished: Iterable[tuple[int, Pair]]) -> bool:
        """Add pairs that have finished, with the indices of their rungs. Return if any have."""
        before = len(self.finished)
        self.finished.extend(finished)
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
            player=self._player,
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

    def _row(self, number: int, elo: float) -> RungResult:
        games = [game for rung, pair in self.finished if rung == number for game in pair]
        expected = float(expected_score(elo - self._elos[number])) * len(games)
        return RungResult(self._ladder.rungs[number], count_results(games), expected)
