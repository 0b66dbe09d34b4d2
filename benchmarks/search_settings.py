"""Settings of the search compared by matches of one network against itself.

    python benchmarks/search_settings.py chess --simulations 200,800 --games 400 --devices cuda:0 \
        --variant recipe --variant "calmer: c_scale=0.2" --variant "puct: method=puct c_init=0.6"

A variant is a name and settings that replace those of the network's run. It may also change how the
search of one position, which the UCI engine, the web app and `rookery.Analysis` use, asks the
network: `leaves` is the largest wave (with more than 1, `method=puct` is needed), `growth` the
number of nodes in the tree per leaf of a wave (0: all waves are large), and `symmetry=true`
evaluates each position under one symmetry of the game:

    python benchmarks/search_settings.py chess --simulations 100 --games 400 \
        --variant "one leaf: method=puct" --variant "growing: method=puct leaves=16 growth=16"

Every variant plays the first one with equal simulations and, with `--doublings`, itself with half
of them. Each move has a new tree. Pairs of games start from the same opening. The leaves of all
games are one batch of the network, whose last evaluations are remembered on a CPU. Prints one row
per match, with a 95 % interval.
"""

import argparse
import time
from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from typing import Any
from zlib import crc32

import numpy as np
from heading import print_heading, print_table
from numpy.typing import NDArray

from rookery.api import Net, load_net
from rookery.arena import (
    Histories,
    MatchReport,
    Player,
    SearchPlayer,
    default_plies,
    draw_openings,
    has_book,
    play_part,
    report_match,
)
from rookery.arena import planes as planes_of
from rookery.games import Game, Repetitions, States, new_repetitions
from rookery.search import AnalysisSearch, Evaluator, SearchConfig

Floats = NDArray[np.float32]
SPARE_NODES = 64
REMEMBERED_BYTES = 2**30


@dataclass(frozen=True)
class Variant:
    """A name and settings of a search."""

    name: str
    search: SearchConfig
    leaves: int = 1
    growth: int = 0
    symmetry: bool = False

    @classmethod
    def read(cls, text: str, base: SearchConfig) -> "Variant":
        """Read "NAME: SETTING=VALUE SETTING=VALUE"."""
        name, _, words = text.partition(":")
        own = cls(name.strip(), base)
        changes: dict[Any, dict[str, Any]] = {own: {}, base: {}}
        for word in words.split():
            setting, _, value = word.partition("=")
            place = base if setting in {field.name for field in fields(base)} else own
            kind = type(getattr(place, setting))
            changes[place][setting] = value == "true" if kind is bool else kind(value)
        variant = replace(own, search=replace(base, **changes[base]), **changes[own])
        if variant.leaves > 1 and variant.search.method != "puct":
            raise SystemExit(f"{variant.name}: leaves need method=puct")
        return variant

    def wave(self, nodes: int) -> int:
        """Return the number of leaves of the next wave in a tree with `nodes`."""
        return min(self.leaves, max(1, nodes // self.growth)) if self.growth else self.leaves


class Remembering:
    """An evaluator that remembers positions: both players have the same network."""

    def __init__(self, evaluator: Evaluator, bytes_per_position: int) -> None:
        self._evaluator, self._limit = evaluator, REMEMBERED_BYTES // bytes_per_position
        self._known: dict[bytes, tuple[Floats, Floats]] = {}
        self.hits = self.misses = 0

    def __call__(self, planes: Floats) -> tuple[Floats, Floats]:
        keys = [blake2b(row.tobytes(), digest_size=16).digest() for row in planes]
        missing = list({key: row for row, key in enumerate(keys) if key not in self._known}.items())
        self.hits += len(keys) - len(missing)
        self.misses += len(missing)
        if missing:
            rows = [row for _, row in missing]
            logits, wdl = self._evaluator(np.ascontiguousarray(planes[rows]))
            for index, (key, _) in enumerate(missing):
                self._known[key] = logits[index].copy(), wdl[index].copy()
        found = [self._known[key] for key in keys]
        while len(self._known) > self._limit:
            del self._known[next(iter(self._known))]
        return np.stack([each[0] for each in found]), np.stack([each[1] for each in found])


class Mirroring:
    """An evaluator that turns every position by a symmetry of the game, as good as random."""

    def __init__(self, game: Game, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._cells, self._actions = game.cell_symmetries, np.argsort(game.action_symmetries)

    def __call__(self, planes: Floats) -> tuple[Floats, Floats]:
        turns = [crc32(row.tobytes()) % len(self._cells) for row in planes]
        cells = self._cells[turns][:, None, :]
        turned = np.take_along_axis(planes.reshape(*planes.shape[:2], -1), cells, 2)
        logits, wdl = self._evaluator(turned.reshape(planes.shape))
        return np.take_along_axis(logits, self._actions[turns], 1), wdl


class AnalysisPlayer:
    """Plays the best move of one analysis search per game."""

    def __init__(self, game: Game, evaluator: Evaluator, variant: Variant, nodes: int) -> None:
        self.name = variant.name
        self._game, self._variant, self._nodes = game, variant, nodes
        self._evaluator = Mirroring(game, evaluator) if variant.symmetry else evaluator
        self._searches: list[AnalysisSearch] = []
        self._root: tuple[Floats, Floats]

    def choose(self, states: States, histories: Histories | None = None) -> NDArray[np.int32]:
        """Return [G] the best actions found."""
        searches = self._set_positions(states, histories)
        waves = self._gather(searches)
        while waves:
            logits, wdl = self._evaluator(np.concatenate([planes for _, planes in waves]))
            end = 0
            for search, planes in waves:
                start, end = end, end + len(planes)
                search.ascend(logits[start:end], wdl[start:end])
            waves = self._gather([search for search, _ in waves])
        return np.array([search.variations()[0].actions[0] for search in searches], np.int32)

    def _gather(self, searches: list[AnalysisSearch]) -> list[tuple[AnalysisSearch, Floats]]:
        """Return the searches that are not finished, with the planes of their next leaves."""
        waves = []
        for search in searches:
            planes = np.zeros(0, np.float32)
            while not len(planes) and search.simulations < self._nodes and not search.is_finished:
                made = search.simulations
                planes = search.gather(min(self._nodes - made, self._variant.wave(made)))
            if len(planes):
                waves.append((search, planes))
        return waves

    def _set_positions(self, states: States, histories: Histories | None) -> list[AnalysisSearch]:
        games = histories.repetitions if histories else new_repetitions(self._game, len(states))
        logits, wdl = self._evaluator(planes_of(self._game, states))
        while len(self._searches) < len(states):
            self._searches.append(self._new_search())
        for g, search in enumerate(self._searches[: len(states)]):
            one = slice(g, g + 1)
            self._root = logits[one], wdl[one]
            search.set_position(states[g], Repetitions(games.keys[one], games.counts[one]))
        return self._searches[: len(states)]

    def _new_search(self) -> AnalysisSearch:
        return AnalysisSearch(
            self._game,
            lambda _: self._root,  # evaluated with the roots of all games
            config=self._variant.search,
            max_nodes=self._nodes + SPARE_NODES,
            leaves=self._variant.leaves,
            proof_nodes=self._variant.search.proof_nodes,
        )


def new_player(net: Net, evaluator: Evaluator, variant: Variant, nodes: int) -> Player:
    """Return the player of a variant with `nodes` per move.

    With one leaf per wave the batched search is the same search, and faster for many games.
    """
    game = net.game
    if variant.leaves > 1:
        return AnalysisPlayer(game, evaluator, variant, nodes)
    if variant.symmetry:
        evaluator = Mirroring(game, evaluator)
    return SearchPlayer(
        game, evaluator, config=variant.search, simulations=nodes, seed=1, name=variant.name
    )


def match(
    net: Net, evaluator: Evaluator, *sides: tuple[Variant, int], games: int, seed: int
) -> MatchReport:
    """Play `games` games of two variants with their nodes."""
    game = net.game
    openings = draw_openings(
        game, games // 2, plies=default_plies(game), seed=seed, from_book=has_book(game)
    )
    one, other = (new_player(net, evaluator, *side) for side in sides)
    return report_match(one.name, other.name, played=play_part(game, one, other, openings))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("net", help="a network: the name of a game for the bundled one, or a run")
    parser.add_argument("--simulations", default="200")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--devices", default="cpu")
    parser.add_argument("--inference", default="auto", help="as in run.inference, such as int8")
    parser.add_argument("--variant", action="append", required=True)
    parser.add_argument("--doublings", action="store_true")
    options = parser.parse_args()

    print_heading()
    ref = replace(load_net(options.net).ref, inference=options.inference)
    net = Net(ref, devices=options.devices)
    numbers = net.game.num_actions + int(np.prod(net.game.planes_shape))
    evaluator = net.evaluator
    if options.devices == "cpu":
        evaluator = Remembering(evaluator, bytes_per_position=4 * numbers)
    variants = [Variant.read(text, net.search) for text in options.variant]
    rows: list[list[str]] = []

    def play(a: tuple[Variant, int], b: tuple[Variant, int], label: str) -> None:
        start = time.perf_counter()
        report = match(net, evaluator, a, b, games=options.games, seed=options.seed)
        won, elo = report.total, report.elo
        counts = f"{won.wins}, {won.draws}, {won.losses}"
        interval = f"{elo.elo:+.0f} ({elo.low:+.0f} to {elo.high:+.0f})"
        rows.append([a[0].name, str(a[1]), label, counts, interval, str(report.distinct_games)])
        print(*rows[-1], f"{time.perf_counter() - start:.0f} s", sep="; ", flush=True)

    for simulations in map(int, options.simulations.split(",")):
        for variant in variants:
            if variant is not variants[0]:
                play((variant, simulations), (variants[0], simulations), variants[0].name)
            if options.doublings:
                half = simulations // 2
                play((variant, simulations), (variant, half), f"itself with {half}")
    print_table(["variant", "simulations", "against", "won, drawn, lost", "Elo", "distinct"], rows)


if __name__ == "__main__":
    main()
