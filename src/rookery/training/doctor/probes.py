"""Evidence that takes seconds: the newest network on recent games and against itself, the rules.

Each probe has a budget of its own, and returns None where there is too little to measure.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rookery.arena import (
    EloDifference,
    GamesInFlight,
    SearchPlayer,
    default_plies,
    draw_openings,
    elo_difference,
    has_book,
    planes,
)
from rookery.base import ConfigError, FileDamaged, numbered_files
from rookery.games import CheckResult, Game, States, check_game
from rookery.nets import CpuEvaluator
from rookery.replay import GIVEN, concatenate, count, game_starts, read_shard
from rookery.training.store.folder import RunFolder

MAX_ROWS = 60_000
"""Rows of the newest games that are read."""
MIN_GAMES = 100
ROWS_PER_GAME = 2
"""Rows of each game that are judged: those of one game have the same result."""
BATCH = 256
NUM_BINS = 5
NOISE = 2.0
"""Standard errors by which a bin may be off by chance."""
PAIRS = 32
MIN_PAIRS = 12
MATCH_SECONDS = 15.0
MOST_SIMULATIONS = 64
"""Per move in this match, also in runs with more: one ply of all games must not take long."""
RULES_GAMES = 20

Evaluate = Callable[[NDArray[np.float32]], tuple[NDArray[np.float32], NDArray[np.float32]]]


@dataclass(frozen=True)
class Bin:
    """Positions that the network values about the same."""

    predicted: float
    """Its mean expected score, 0 to 1."""
    scored: float
    """The mean score of the games, a draw being a half."""
    rows: int
    margin: float
    """By which the two may differ by chance."""

    @property
    def excess(self) -> float:
        """By how much they differ more than that."""
        return max(0.0, abs(self.predicted - self.scored) - self.margin)


@dataclass(frozen=True)
class Reliability:
    """The reliability curve of the value head on games of the run."""

    bins: tuple[Bin, ...]
    games: int

    @property
    def error(self) -> float:
        """Mean difference of predicted and actual score beyond chance, over all rows."""
        rows = sum(each.rows for each in self.bins)
        return sum(each.excess * each.rows for each in self.bins) / rows


@dataclass(frozen=True)
class SearchGain:
    """The network with search against the network alone."""

    simulations: int
    pairs: int
    decisive: float
    """Share of the pairs that one of them won."""
    difference: EloDifference


@dataclass(frozen=True)
class Measured:
    """What the probes have found; None or nothing where one was left out."""

    reliability: Reliability | None = None
    search: SearchGain | None = None
    rules: tuple[CheckResult, ...] = ()


def measure(folder: RunFolder, *, can_judge: bool) -> Measured:
    """Run the probes; those of the network only if the run is long enough to judge."""
    rules = check_rules(folder.game)
    if not can_judge or not folder.stored_weights():
        return Measured(rules=rules)
    net = folder.load_weights().build()
    shape = folder.game.planes_shape
    evaluator = CpuEvaluator(net, shape, backend="float32", batch_size=BATCH)
    return Measured(
        reliability=measure_reliability(folder, evaluator),
        search=measure_search(folder, evaluator),
        rules=rules,
    )


def check_rules(game: Game) -> tuple[CheckResult, ...]:
    """Return what `rookery games check` finds in the user's own rules, warnings included."""
    if not game.source:
        return ()
    found = check_game(game, games=RULES_GAMES)
    return tuple(each for each in found if each.is_warning or not each.passed)


def measure_reliability(folder: RunFolder, evaluate: Evaluate) -> Reliability | None:
    """Compare the network's values in the newest games of self-play with their results."""
    states, results, games = _recent_rows(folder)
    num_games = len(np.unique(games))
    if num_games < MIN_GAMES:
        return None
    predicted = np.concatenate(
        [
            _expected_scores(evaluate, folder.game, states[first : first + BATCH])
            for first in range(0, len(states), BATCH)
        ]
    )
    return Reliability(reliability_bins(predicted, (results + 1) / 2, games), num_games)


def reliability_bins(
    predicted: NDArray[np.float64], scored: NDArray[np.float64], games: NDArray[np.int64]
) -> tuple[Bin, ...]:
    """Return bins of equal width; the rows of one game, by its number, count as one observation."""
    found, bins = [], np.minimum((predicted * NUM_BINS).astype(int), NUM_BINS - 1)
    for number in range(NUM_BINS):
        rows = np.flatnonzero(bins == number)
        if len(rows) > 1:
            gaps = scored[rows] - predicted[rows]
            sums = np.bincount(games[rows], weights=gaps)  # not centred: one game proves nothing
            error = float(np.sqrt(np.square(sums).sum())) / len(rows)
            means = float(predicted[rows].mean()), float(scored[rows].mean())
            found.append(Bin(*means, len(rows), NOISE * error))
    return tuple(found)


def measure_search(folder: RunFolder, evaluator: CpuEvaluator) -> SearchGain | None:
    """Play the network with search against the network alone until the time is over.

    The first ply does not count: it may compile.
    """
    game, seed = folder.game, folder.config.run.seed
    simulations = min(folder.config.selfplay.max_simulations(), MOST_SIMULATIONS)
    searching, alone = (
        SearchPlayer(
            game, evaluator, config=folder.config.search, simulations=number, seed=seed, name=""
        )
        for number in (simulations, 0)
    )
    plies, from_book = default_plies(game), has_book(game)
    try:
        openings = draw_openings(game, PAIRS, plies=plies, seed=seed, from_book=from_book)
    except ConfigError:  # every short line of play ends the game
        return None
    in_flight = GamesInFlight(game, searching, [alone], PAIRS)
    for slot, opening in enumerate(openings):
        in_flight.start_pair(slot, opening, 0)
    in_flight.play_ply()
    end = time.monotonic() + MATCH_SECONDS
    while in_flight.play_ply() and time.monotonic() < end:
        pass
    pairs = [pair for _, pair in in_flight.take_finished()]
    if len(pairs) < MIN_PAIRS:
        return None
    scores = [sum(game.result + 1 for game in pair) / 4 for pair in pairs]
    decisive = sum(score != 0.5 for score in scores) / len(scores)
    return SearchGain(simulations, len(pairs), decisive, elo_difference(scores))


def _recent_rows(folder: RunFolder) -> tuple[States, NDArray[np.int8], NDArray[np.int64]]:
    """Return positions of the newest games of self-play, their results and their games."""
    parts, total = [], 0
    for path in reversed(numbered_files(folder.path / "replay").values()):
        try:
            rows = read_shard(path, game=folder.game)
        except FileDamaged:
            if path.exists():
                raise
            break  # the run trains on, and has just deleted it
        if count(rows) and not (rows.iterations == GIVEN).any():
            parts.append(rows)
            total += count(rows)
        if total >= MAX_ROWS:
            break
    if not parts:
        return folder.game.new_states(0), np.zeros(0, np.int8), np.zeros(0, np.int64)
    rows = concatenate(parts)
    starts = game_starts(rows)
    games = np.searchsorted(starts, np.arange(count(rows)), side="right") - 1
    lengths = np.diff(np.append(starts, count(rows)))
    shares = (np.arange(ROWS_PER_GAME) + 0.5) / ROWS_PER_GAME
    chosen = np.unique((starts[:, None] + lengths[:, None] * shares).astype(np.int64))
    return rows.states[chosen], rows.results[chosen], games[chosen]


def _expected_scores(evaluate: Evaluate, game: Game, states: States) -> NDArray[np.float64]:
    _, wdl = evaluate(planes(game, states))
    return np.asarray(wdl[:, 0] + wdl[:, 1] / 2, np.float64)
