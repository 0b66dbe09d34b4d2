"""A player rated on a ladder: it meets the rungs near its strength more often than the others.

A fixed number of games goes on at once, the player searching in half of them together while rungs
reply in the others. Where a pair has ended the next begins, against the rung that tells most.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from rookery.arena.book import Opening, book_openings, has_book
from rookery.arena.match import MatchGame, Tally, draw_openings, part_seed, tally
from rookery.arena.player import Player
from rookery.arena.players import named_player
from rookery.arena.rating.elo import expected_score
from rookery.arena.rating.estimate import RatingEstimate, estimate, next_rung
from rookery.arena.rating.in_flight import GamesInFlight, Pair
from rookery.arena.rating.ladder import Ladder, Rung
from rookery.base import ConfigError
from rookery.games import Game

OPENING_PLIES = 4
"""Random plies, where the game has no book."""


@dataclass(frozen=True)
class RatingPlan:
    """How much is played."""

    games: int = 200
    width: float = 0.0
    """No pair begins when the 95 % interval is narrower than this, in Elo."""
    at_once: int = 64
    """Games that go on at the same time, at most: a quarter, so that later ones are well chosen."""
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("games", "at_once"):
            number = getattr(self, name)
            if number < 2 or number % 2:
                option = name.replace("_", "-")
                raise ConfigError(
                    f"games are played in pairs: {option} must be even and not 0, got {number}"
                )

    @property
    def pairs_at_once(self) -> int:
        """Pairs that go on at the same time."""
        return max(1, min(self.at_once, self.games // 4) // 2)


@dataclass(frozen=True)
class RatedGame:
    """One game on a ladder; a is the player that is rated."""

    rung: str
    game: MatchGame


@dataclass(frozen=True)
class RungResult:
    """How the player did against one rung."""

    rung: Rung
    tally: Tally
    expected: float
    """The points that somebody of its rating would have made."""


@dataclass(frozen=True)
class RatingReport:
    """Where a player stands."""

    player: str
    ladder: str
    estimate: RatingEstimate
    margin: float
    """How far the ladder itself may be wrong there, half a 95 % interval."""
    rows: tuple[RungResult, ...]
    """One for every rung, the weakest first."""
    distinct_games: int
    games: tuple[RatedGame, ...]
    """Games 2n and 2n + 1 are a pair."""
    was_interrupted: bool = False

    @property
    def faults(self) -> list[str]:
        """Why games were forfeited, a line each."""
        return [each.game.fault for each in self.games if each.game.fault]


Watch = Callable[[int, RatingEstimate], None]
"""Told after every pair: the games that have ended, and where the player seems to stand."""


def rate_player(
    game: Game, player: Player, ladder: Ladder, *, plan: RatingPlan, watch: Watch | None = None
) -> RatingReport:
    """Rate a player on a ladder; interrupted, by the pairs that have ended, if there are any."""
    ladder.check(game)
    ascent = _Rating(game, player, ladder, plan)
    try:
        with ThreadPoolExecutor(1) as beside:
            while ascent.begin():
                ascent.slots.move(beside)
                if ascent.collect() and watch:
                    watch(2 * len(ascent.pairs), ascent.estimate())
    except KeyboardInterrupt:
        if not ascent.pairs:
            raise
        return ascent.report(was_interrupted=True)
    return ascent.report()


class _Rating:
    """What was played so far, and what is to be played next."""

    def __init__(self, game: Game, player: Player, ladder: Ladder, plan: RatingPlan) -> None:
        self._player, self._ladder, self._plan = player, ladder, plan
        self._elos = [rung.elo for rung in ladder.rungs]
        self._openings = _openings(game, plan)
        self._assigned = [0] * len(ladder.rungs)
        rungs = [
            named_player(rung.player, game, seed=part_seed(plan.seed, number, side=1))
            for number, rung in enumerate(ladder.rungs)
        ]
        self.slots = GamesInFlight(game, player, rungs, plan.pairs_at_once)
        self.pairs: list[tuple[int, Pair]] = []
        """The pairs that have ended, with the numbers of their rungs."""

    def begin(self) -> bool:
        """Begin pairs where there is room and need; whether any game goes on."""
        free = self.slots.free()
        while free and (rung := self._next()) is not None:
            opening = self._openings[sum(self._assigned)]
            self._assigned[rung] += 1
            self.slots.begin(free.pop(), opening, rung)
        return sum(self._assigned) > len(self.pairs)

    def collect(self) -> bool:
        """Take note of the pairs that have ended; whether there are any."""
        before = len(self.pairs)
        self.pairs.extend(self.slots.take_ended())
        return len(self.pairs) > before

    def estimate(self) -> RatingEstimate:
        """Where the player stands by the games that have ended."""
        scores = [(one.result + other.result + 2) / 4 for _, (one, other) in self.pairs]
        return estimate(self._elos, [rung for rung, _ in self.pairs], scores)

    def report(self, *, was_interrupted: bool = False) -> RatingReport:
        """What the games that have ended say."""
        where = self.estimate()
        games = [RatedGame(self._name(rung), game) for rung, pair in self.pairs for game in pair]
        return RatingReport(
            player=self._player.name,
            ladder=self._ladder.name,
            estimate=where,
            margin=self._margin(where.elo),
            rows=tuple(self._row(number, where.elo) for number in range(len(self._elos))),
            distinct_games=len({each.game.opening + each.game.moves for each in games}),
            games=tuple(games),
            was_interrupted=was_interrupted,
        )

    def _next(self) -> int | None:
        """The rung of the next pair, or None if nothing is to be begun now.

        Half of the rungs must have been met before there is an estimate to go by.
        """
        if 2 * sum(self._assigned) >= self._plan.games:
            return None
        if 2 * len(self.pairs) < len(self._elos):
            return next_rung(self._elos, self._assigned, None) if 0 in self._assigned else None
        where = self.estimate()
        if where.width <= self._plan.width:
            return None
        return next_rung(self._elos, self._assigned, where)

    def _row(self, number: int, elo: float) -> RungResult:
        games = [game for rung, pair in self.pairs if rung == number for game in pair]
        share = expected_score(elo - self._elos[number])
        return RungResult(self._ladder.rungs[number], tally(games), share * len(games))

    def _margin(self, elo: float) -> float:
        """That of the nearest rung."""
        nearest = min(self._ladder.rungs, key=lambda rung: abs(rung.elo - elo))
        return (nearest.high - nearest.low) / 2

    def _name(self, number: int) -> str:
        return self._ladder.rungs[number].player


def _openings(game: Game, plan: RatingPlan) -> list[Opening]:
    count = plan.games // 2
    if has_book(game):
        return book_openings(game, count, seed=plan.seed)
    return draw_openings(game, count, plies=OPENING_PLIES, seed=plan.seed)
