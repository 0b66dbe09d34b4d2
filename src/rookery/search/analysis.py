"""Searching one position, as fast as the device allows and as long as one likes.

Elsewhere batches are made across games. Here there is one tree, which gathers several leaves a
wave, as few as keep the device busy. It grows in slices, may be asked at any time, and keeps what
it knows when moves are made.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rookery.base import Index
from rookery.games import ONGOING, Action, Game, Repetitions, State
from rookery.search import leaf_batch, reroot
from rookery.search.config import SearchConfig
from rookery.search.evaluators import Evaluator
from rookery.search.tree import ROOT, STEP, UNVISITED, Tree, layout, new_tree
from rookery.search.variations import Variation, read_variations

MOST_LEAVES = 64
"""Leaves a wave, at most, where nobody says: the tree's own work then takes as long as a GPU's."""
WORTH = 0.25
"""Leaves a wave must bring this power of their number in speed: twice as many, 1.19 times."""
DISTURBED = 4
"""How many times as many leaves are tried before giving up: a measurement may be disturbed."""
MOST_SECONDS = 0.04
"""A wave may take: whoever says stop does not want to wait."""
MEASURE_SECONDS = 0.1
SLICE = 1 << 20
"""Simulations asked of the tree at once where there is no limit."""


@dataclass(frozen=True)
class SearchProgress:
    """How far a search has come since `SingleSearch.place`."""

    simulations: int
    evaluations: int
    depth: int
    """Plies that a simulation went down, on average."""
    deepest: int
    fullness: float
    """Share of the arena in use."""


class AnalysisSearch:
    """One tree that grows by PUCT, without noise."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        *,
        config: SearchConfig,
        max_nodes: int,
        leaves: int = 0,
    ) -> None:
        """`leaves` a wave are measured if 0; `max_nodes` positions are kept at most."""
        self.game = game
        self.leaves = leaves or choose_leaves(game, evaluator)
        self._evaluator = evaluator
        self._settings = replace(config, method="puct", prove=True).settings(explore=False)
        self._tree = new_tree(game, 1, max_nodes)
        self._tree.streams[:] = 1
        self._wave = leaf_batch.new_wave(self._tree, self.leaves)
        self._planes = np.zeros((self.leaves, *game.planes_shape), np.float32)
        self._steps = np.zeros(max_nodes + 2, np.dtype((np.record, STEP)))
        self._plies = np.zeros(max_nodes + 2, np.int32)
        self._waves, self._reroot = leaf_batch.bind(game.rules), reroot.bind(game.rules)
        self._is_whole = False

    @property
    def tree(self) -> Tree:
        """The one tree."""
        return self._tree

    @property
    def is_finished(self) -> bool:
        """Whether growing on would change nothing: the root is proved, or the arena is full."""
        is_proved = self._tree.nodes[0, 0].proof != ONGOING
        return bool(is_proved or not leaf_batch.has_room(self._tree, 0))

    @property
    def growth(self) -> SearchProgress:
        """How far the search has come."""
        counters, search = self._wave.counters, self._tree.searches[0]
        simulations = int(counters[leaf_batch.SIMULATIONS])
        nodes, edges = self._tree.nodes.shape[1], self._tree.edges.shape[1]
        return SearchProgress(
            simulations=simulations,
            evaluations=int(counters[leaf_batch.EVALUATIONS]),
            depth=round(int(counters[leaf_batch.DEPTHS]) / max(1, simulations)),
            deepest=int(counters[leaf_batch.DEEPEST]),
            fullness=float(max(search.nodes_used / nodes, search.edges_used / edges)),
        )

    def place(
        self,
        state: State,
        repetitions: Repetitions,
        *,
        moves: Sequence[Action] | None = None,
        only: Sequence[Action] = (),
    ) -> None:
        """Search `state`, in which there must be a move; `memory`, of one game, stood before it.

        `moves` lead there from the position placed last: what was found below them stays. `only`
        some moves may be looked at, if any are named.
        """
        found: Index = UNVISITED
        if moves is not None and self._is_whole and not only:
            found = reroot.find_node(self._tree, np.array(moves, np.int32))
        self._tree.past[:], self._tree.past_counts[:] = repetitions.keys, repetitions.counts
        self._wave.counters[:] = 0
        if found == UNVISITED:
            self._begin(state)
        else:
            if found > 0:
                self._reroot.move_on(self._tree, self._steps, found)
            self._tree.states[0, 0] = state
        self._is_whole = not only
        if only:
            self._restrict(only)
        self._waves.find_ends(self._tree, ROOT)

    def grow(self, simulations: int = SLICE, is_stopped: Callable[[], bool] | None = None) -> int:
        """Simulate so often, or until `is_stopped` after a wave; how often it did."""
        tree, before = self._tree, int(self._wave.counters[leaf_batch.SIMULATIONS])
        search = tree.searches[0]
        search.simulations_left = 0 if self.is_finished else simulations
        while search.simulations_left > 0:
            table, planes = _NO_TABLE, self._planes
            count = self._waves.gather(tree, self._settings, table, self._wave, planes)
            if count:
                self._answer(count)
            if (is_stopped and is_stopped()) or self.is_finished:
                break
        return int(self._wave.counters[leaf_batch.SIMULATIONS]) - before

    def lines(self, count: int = 1) -> list[Variation]:
        """The best moves so far, the best first, with their values and how play would go on."""
        return read_variations(self._tree, self._plies, count)

    def _begin(self, state: State) -> None:
        self._tree.states[0, 0] = state
        self._waves.begin(self._tree, self._settings, self._wave, self._planes)
        self._answer(1)

    def _answer(self, count: int) -> None:
        logits, wdl = self._evaluator(self._planes[:count])
        self._waves.ascend(self._tree, self._settings, self._wave, logits, wdl)

    def _restrict(self, only: Sequence[Action]) -> None:
        """Leave the new root only some of its edges."""
        root = self._tree.nodes[0, 0]
        edges = self._tree.edges[0, root.first_edge : root.first_edge + root.num_edges]
        kept = edges[np.isin(edges["action"], only)].copy()
        edges[: len(kept)] = kept
        root.num_edges = len(kept)
        total = kept["prior"].sum()
        edges["prior"] /= total
        edges["log_prior"] -= np.log(total)


_NO_TABLE = np.zeros((1, 1), np.int32)  # Gumbel's


def nodes_in_memory(game: Game, megabytes: int) -> int:
    """How many positions an arena of so many megabytes holds."""

    def size(nodes: int) -> int:
        return sum(
            np.dtype(dtype).itemsize * int(np.prod(shape, dtype=np.int64))
            for dtype, shape in layout(game, 1, nodes)
        )

    base, more = size(game.max_plies), size(2 * game.max_plies) - size(game.max_plies)
    fixed = base - more
    return max(1024, int((megabytes * 2**20 - fixed) / (more / game.max_plies)))


def choose_leaves(game: Game, evaluator: Evaluator) -> int:
    """The fewest leaves a wave that keep the evaluator busy: twice as many would gain little."""
    leaves, rate, size = 1, _rate(game, evaluator, 1), 2
    while size <= min(MOST_LEAVES, DISTURBED * leaves):
        found = _rate(game, evaluator, size)
        if size / found > MOST_SECONDS:
            break
        if found > rate * (size / leaves) ** WORTH:
            leaves, rate = size, found
        size *= 2
    return leaves


def _rate(game: Game, evaluator: Evaluator, rows: int) -> float:
    """Rows a second, by the shortest call of a few: others may share the machine."""
    planes = np.zeros((rows, *game.planes_shape), np.float32)
    evaluator(planes)
    best, end = np.inf, time.perf_counter() + MEASURE_SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        evaluator(planes)
        best = min(best, time.perf_counter() - start)
    return rows / best
