"""Elo over the iterations of a run: its networks against earlier ones and against fixed anchors.

Every measurement is one line of the statistics with the games that were played. The ratings of all
iterations are fitted to the games of all lines, on one scale (see `arena.rate_all`). The anchors
are random and minimax players; where the game has a ladder, their ratings are those of the ladder.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import TypeAdapter, ValidationError

from rookery.arena import (
    Opening,
    Pair,
    PairResults,
    RatingEstimate,
    anchors_of,
    count_pairs,
    default_plies,
    draw_openings,
    has_book,
    ladder_of,
    named_player,
    rate_all,
)
from rookery.base import RookeryError, generator
from rookery.games import Game
from rookery.training.config import RunConfig
from rookery.training.run import Run

MIN_PAIRS = 4
"""Pairs of a measurement; with time for fewer there is none."""
ANCHORS = 2
"""Anchors that a network plays once its strength is roughly known."""
SCORES = 5
MAX_PAIRS = 10**9
MAX_ELO = 10_000
MAX_DIGITS = 10
MAX_MEASUREMENTS = 1000
"""The last measurements of a run, which are fitted together."""

Anchors = Mapping[str, float | None]
"""Players and their ratings, None if one is not known."""


@dataclass(frozen=True)
class EloMeasurement:
    """The games of the network of one iteration, as they are kept in the statistics."""

    iteration: int
    simulations: int
    """Simulations per move of all networks."""
    anchors: dict[str, float | None]
    results: dict[str, list[int]]
    """For each opponent the pairs with a score of 0, 0.25, 0.5, 0.75 and 1. An opponent is an
    anchor, or the network of an earlier iteration, by its number."""
    took: float = 0.0
    """Seconds of the run that it cost."""
    fingerprints: dict[str, str] = field(default_factory=dict)
    """The weights of networks by their number, for games that were played after the run."""

    def __post_init__(self) -> None:
        for counts in self.results.values():
            if len(counts) != SCORES or not all(0 <= count <= MAX_PAIRS for count in counts):
                raise ValueError(f"expected {SCORES} numbers of pairs, got {counts}")
        networks = [*filter(str.isdecimal, self.results), *self.fingerprints]
        if not all(name.isdecimal() and len(name) <= MAX_DIGITS for name in networks):
            raise ValueError(f"networks have the number of an iteration, got {networks}")
        if not all(elo is None or abs(elo) <= MAX_ELO for elo in self.anchors.values()):
            raise ValueError(f"the rating of an anchor is not within {MAX_ELO}")

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return sum(map(sum, self.results.values()))


@dataclass
class EloHistory:
    """All measurements of a run whose networks search with the same number of simulations."""

    anchors: Anchors
    simulations: int
    measurements: list[EloMeasurement] = field(default_factory=list)
    _fitted: dict[str, RatingEstimate] | None = None

    def add(self, measurements: Iterable[EloMeasurement]) -> None:
        """Add measurements; those with another number of simulations do not belong here."""
        self.measurements += [each for each in measurements if each.simulations == self.simulations]
        self._fitted = None

    def fit(self) -> dict[str, RatingEstimate]:
        """Return the ratings of all networks, by the number of their iteration, and anchors."""
        if self._fitted is None:
            known = {name: elo for name, elo in self.anchors.items() if elo is not None}
            self._fitted = rate_all(self._results(), known)
        return self._fitted

    def ratings(self) -> dict[int, RatingEstimate]:
        """Return the ratings of all iterations, in their order."""
        found = {int(name): rating for name, rating in self.fit().items() if name.isdecimal()}
        return dict(sorted(found.items()))

    def games(self, iteration: int) -> int:
        """Return the number of games of the network of an iteration."""
        name = str(iteration)
        return sum(2 * each.pairs for each in self._results() if name in (each.a, each.b))

    def opponents(self, iteration: int, stored: Iterable[int]) -> list[str]:
        """Return who the network of an iteration plays, by name.

        The last network before it, the anchors that tell most about it, and the network of half
        its age. `stored` are the iterations whose networks are kept.
        """
        ratings = self.ratings()
        rated = [number for number in ratings if number < iteration]
        if not rated:
            return list(self.anchors)
        nearest = self._nearest_anchors(ratings[rated[-1]].elo)
        earlier = sorted(set(rated).intersection(stored))
        last = [str(number) for number in earlier[-1:]]
        halfway = sorted(earlier, key=lambda number: abs(2 * number - iteration))[:1]
        return list(dict.fromkeys([*last, *nearest, *map(str, halfway)]))

    def _nearest_anchors(self, elo: float) -> list[str]:
        """Return the anchors nearest to a rating; one without a rating comes first."""
        fitted = {name: rating.elo for name, rating in self.fit().items()}
        known = {**self.anchors, **fitted}
        gaps = {name: known[name] for name in self.anchors}
        return sorted(
            gaps, key=lambda name: -1.0 if (other := gaps[name]) is None else abs(other - elo)
        )[:ANCHORS]

    def _results(self) -> list[PairResults]:
        last = self.measurements[-MAX_MEASUREMENTS:]
        players = {*self.anchors, *(str(each.iteration) for each in last)}
        return [
            PairResults(str(each.iteration), opponent, tuple(counts))
            for each in last
            for opponent, counts in each.results.items()
            if opponent in players
        ]


def read_measurements(lines: Iterable[Mapping[str, object]]) -> list[EloMeasurement]:
    """Return the measurements in lines of the statistics, without damaged ones."""
    found = []
    for line in lines:
        if line["kind"] == "elo":
            try:
                found.append(_MEASUREMENT.validate_python(line))
            except ValidationError:
                continue
    return found


_MEASUREMENT = TypeAdapter(EloMeasurement)


def history_of(measurements: Sequence[EloMeasurement]) -> EloHistory:
    """Return the history of at least one measurement, with anchors and search of the last one."""
    history = EloHistory(measurements[-1].anchors, measurements[-1].simulations)
    history.add(measurements)
    return history


def anchors_for(game: Game, config: RunConfig) -> Anchors:
    """Return the anchors that the settings name; ConfigError if one cannot play here.

    If no rating is known, that of the first anchor is 0.
    """
    if config.elo_anchors == "auto":
        return anchors_of(game)
    names = [name.strip() for name in config.elo_anchors.split(",")]
    ladder = ladder_of(game)
    known = {rung.player: rung.elo for rung in ladder.rungs} if ladder else {"random": 0.0}
    for name in names:
        named_player(name, game, seed=0)
    found = {name: known.get(name) for name in names}
    return found if any(elo is not None for elo in found.values()) else {**found, names[0]: 0.0}


def plan_pairs(
    game: Game, opponents: Sequence[str], pairs: int, *, seed: int
) -> tuple[tuple[int, Opening], ...]:
    """Return `pairs` pairs of games, shared equally among the opponents, the first ones first."""
    plies, book = default_plies(game), has_book(game)
    openings = draw_openings(game, pairs, plies=plies, seed=seed, from_book=book)
    return tuple((number % len(opponents), opening) for number, opening in enumerate(openings))


def count_results(
    opponents: Sequence[str], played: Iterable[tuple[int, Pair]]
) -> dict[str, list[int]]:
    """Return the results of pairs by opponent, as `EloMeasurement` keeps them."""
    finished = list(played)
    return {
        name: list(count_pairs([game for n, pair in finished if n == number for game in pair]))
        for number, name in enumerate(opponents)
        if any(n == number for n, _ in finished)
    }


@dataclass(frozen=True)
class EloPlan:
    """The games of one measurement."""

    iteration: int
    opponents: list[str]
    pairs: tuple[tuple[int, Opening], ...]
    """The opponent, by its index, and the opening of each pair."""
    seed: int


class EloRecorder:
    """Plans measurements of Elo within their share of a run's time, and records them."""

    def __init__(self, run: Run, game: Game) -> None:
        self._run, self._game = run, game
        self._is_off = False

    def plan(self, iteration: int) -> EloPlan | None:
        """Return the games to play now; None if Elo is off or its share of the time is used up."""
        if self._is_off or not self._most:
            return None
        pairs = self._affordable()
        if pairs < min(MIN_PAIRS, self._most):
            return None
        try:
            opponents = self._history.opponents(iteration, self._run.folder.stored_weights())
            if not self._history.measurements:
                pairs = min(self._most, max(pairs, len(opponents)))
            seed = int(generator(self._run.config.run.seed, "elo", iteration).integers(2**62))
            planned = plan_pairs(self._game, opponents, pairs, seed=seed)
            return EloPlan(iteration, opponents, planned, seed)
        except RookeryError as error:
            self.give_up(str(error))
            return None

    def give_up(self, why: str) -> None:
        """Measure no more in this session, and say why."""
        self._is_off = True
        self._run.note(f"Elo is not measured: {why}")

    def record(self, plan: EloPlan, played: Iterable[tuple[int, Pair]], *, took: float) -> None:
        """Record the games of a plan, and the rating of its iteration by all games so far."""
        measurement = EloMeasurement(
            plan.iteration,
            self._simulations,
            dict(self._history.anchors),
            count_results(plan.opponents, played),
            took,
        )
        self._measurements.append(measurement)
        self._history.add([measurement])
        if rating := self._history.ratings().get(plan.iteration):
            games = {name: each for name, each in vars(measurement).items() if name != "iteration"}
            self._run.record_elo(plan.iteration, rating, **games)

    @property
    def _most(self) -> int:
        return self._run.config.run.elo_games // 2

    @property
    def _simulations(self) -> int:
        return self._run.config.run.elo_simulations

    def _affordable(self) -> int:
        """Return how many pairs fit into the share of the time; the first time, the fewest."""
        seconds = self._run.config.run.elo_share * self._run.seconds()
        left = min(
            seconds - sum(each.took for each in self._measurements), self._run.seconds_left()
        )
        if left <= 0:
            return 0
        if not self._measurements:
            return min(MIN_PAIRS, self._most)
        last = self._measurements[-1]
        return min(self._most, int(left * last.pairs / max(last.took, 1e-9)))

    @cached_property
    def _measurements(self) -> list[EloMeasurement]:
        """All measurements of the run, those of earlier sessions included."""
        return read_measurements(self._run.stats.lines())

    @cached_property
    def _history(self) -> EloHistory:
        history = EloHistory(anchors_for(self._game, self._run.config.run), self._simulations)
        history.add(self._measurements)
        return history
